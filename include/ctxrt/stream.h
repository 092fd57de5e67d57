/**
 * Streams: queues of work of one context.
 *
 * Wherever a function takes a stream, NULL means the current stream of the calling thread's top
 * frame (ctxrt_stream_current), and CTXRT_STREAM_LEGACY the driver's legacy default stream of its
 * current context. A stream knows its context: calls with a stream need no current context, and
 * leave the calling thread's stack as it was. Thread-safe. Handles as in context.h: a destroyed
 * stream is recognised and refused.
 *
 * Besides the errors named at each function: CTXRT_ERROR_INVALID_HANDLE if the stream or the event
 * was destroyed or never was one; CTXRT_ERROR_CONTEXT_DESTROYED if its context was reset;
 * CTXRT_ERROR_NO_DEVICE for NULL and CTXRT_STREAM_LEGACY if nothing is current;
 * CTXRT_ERROR_NOT_PERMITTED inside a host function.
 */
#ifndef CTXRT_STREAM_H
#define CTXRT_STREAM_H

#include <ctxrt/stack.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* the driver's CUstream is a pointer to it */

typedef struct ctxrt_event ctxrt_event;

/** The legacy default stream of the current context: it waits for, and is waited for by, every
 * blocking stream of that context. */
#define CTXRT_STREAM_LEGACY ((ctxrt_stream *)1)

enum {
    CTXRT_STREAM_DEFAULT = 0,     /**< blocking: ordered with the legacy stream */
    CTXRT_STREAM_NON_BLOCKING = 1 /**< not ordered with the legacy stream */
};

/**
 * Creates a stream in the calling thread's current context. The caller owns it.
 *
 * @param flags     CTXRT_STREAM_*
 * @param priority  0 is the default; lower numbers are more urgent; clamped to what the device has
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no such flags
 */
CTXRT_API ctxrt_status ctxrt_stream_create(unsigned int flags, int priority,
                                           ctxrt_stream **out_stream) CTXRT_CHECK_RESULT;

/**
 * Creates a stream as ctxrt_stream_create does, in `context`. The calling thread needs no current
 * context; its frames are neither asked nor changed, and its current context is what it was.
 *
 * @param flags, priority  as of ctxrt_stream_create
 * @retval CTXRT_ERROR_INVALID_HANDLE  the context is gone or never was one
 * @retval CTXRT_ERROR_NULL_POINTER    `context` is NULL
 */
CTXRT_API ctxrt_status ctxrt_stream_create_on(ctxrt_context *context, unsigned int flags,
                                              int priority,
                                              ctxrt_stream **out_stream) CTXRT_CHECK_RESULT;

/**
 * Destroys a stream; returns at once; its work goes on to its end. NULL is harmless. If its context
 * was reset the stream is gone already, and only the handle goes.
 *
 * @retval CTXRT_ERROR_IN_USE            it is the current stream of a frame of some thread; nothing
 *                                       changed
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  it is a thread's default stream, or the legacy one
 * @retval CTXRT_ERROR_DRIVER            the driver reported an error, maybe of earlier work; the
 *                                       stream is destroyed all the same
 */
CTXRT_API ctxrt_status ctxrt_stream_destroy(ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/** For CTXRT_SCOPE_STREAM only. */
static inline void ctxrt_stream_cleanup(ctxrt_stream **stream)
{
    (void)ctxrt_stream_destroy(*stream);
}

#ifdef CTXRT_CLEANUP
/**
 * Declares a stream that is destroyed at the end of the block, on every path: CTXRT_SCOPE_STREAM
 * ctxrt_stream *s = NULL; ctxrt_last_error has the error if that fails.
 */
#define CTXRT_SCOPE_STREAM CTXRT_CLEANUP(ctxrt_stream_cleanup)
#endif

/** Waits until all work submitted to the stream so far is done. */
CTXRT_API ctxrt_status ctxrt_stream_synchronize(ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/**
 * Waits as ctxrt_stream_synchronize does, but no longer than about `timeout_ms` milliseconds. The
 * work goes on when the time is over. No driver has such a wait: the thread asks again and again,
 * at least once, and sleeps up to a millisecond in between.
 *
 * @param timeout_ms  0: does not wait; UINT64_MAX: as long as it takes
 * @retval CTXRT_ERROR_NOT_READY  the time is over, and the work is not done
 */
CTXRT_API ctxrt_status ctxrt_stream_synchronize_for(ctxrt_stream *stream,
                                                    uint64_t timeout_ms) CTXRT_CHECK_RESULT;

/** CTXRT_SUCCESS if all work of the stream is done, CTXRT_ERROR_NOT_READY if not. Never waits. */
CTXRT_API ctxrt_status ctxrt_stream_query(ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/**
 * Lets work submitted to `stream` from now on wait for the work that `event` last recorded, if any.
 * The two may belong to different contexts and devices of one driver; across drivers (a GPU and the
 * CPU device) the calling thread waits instead, in this call.
 */
CTXRT_API ctxrt_status ctxrt_stream_wait_event(ctxrt_stream *stream,
                                               ctxrt_event *event) CTXRT_CHECK_RESULT;

/**
 * Calls `function(user_data)` on a driver thread when the earlier work of the stream is done; later
 * work waits until it returns. It is not called if the work before it failed. The function must not
 * call ctxrt or the driver, which answer CTXRT_ERROR_NOT_PERMITTED, nor wait for work that comes
 * behind it. It may take a snapshot: ctxrt_snapshot_write calls no driver.
 *
 * @retval CTXRT_ERROR_NULL_POINTER  `function` is NULL
 */
CTXRT_API ctxrt_status ctxrt_stream_add_host_function(ctxrt_stream *stream,
                                                      void (*function)(void *),
                                                      void *user_data) CTXRT_CHECK_RESULT;

/** The context of a stream. Borrowed. */
CTXRT_API ctxrt_status ctxrt_stream_context(ctxrt_stream *stream,
                                            ctxrt_context **out_context) CTXRT_CHECK_RESULT;

/** The driver's CUstream. Borrowed. CTXRT_STREAM_LEGACY is the driver's CU_STREAM_LEGACY. */
CTXRT_API ctxrt_status ctxrt_stream_native(ctxrt_stream *stream,
                                           struct CUstream_st **out_native) CTXRT_CHECK_RESULT;

/**
 * Makes a handle for a CUstream that other code made in the calling thread's current context. ctxrt
 * does not own the native stream; destroying the handle leaves it alone. Keep the stream alive
 * while the handle is. The driver's legacy and per-thread streams belong to no single context and
 * have no such handle.
 *
 * @retval CTXRT_ERROR_WRONG_CONTEXT     the stream is of another context (a driver before CUDA 9.2
 *                                       cannot tell)
 * @retval CTXRT_ERROR_INVALID_HANDLE    the driver does not know the stream
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  it is the legacy or the per-thread stream
 */
CTXRT_API ctxrt_status ctxrt_stream_from_native(struct CUstream_st *native,
                                                ctxrt_stream **out_stream) CTXRT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
