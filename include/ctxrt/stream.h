/**
 * Streams: queues of work of one context.
 *
 * Wherever a function takes a stream, NULL means the current stream of the calling thread's top frame
 * (ctxrt_stream_current), and CTXRT_STREAM_LEGACY the driver's legacy default stream of its current
 * context. A stream knows its context: calls that are given a stream do not need that context to be
 * current, and leave the calling thread's stack as it was.
 * Thread-safe. Handles as in context.h: a destroyed stream is recognised and refused.
 */
#ifndef CTXRT_STREAM_H
#define CTXRT_STREAM_H

#include <ctxrt/context.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* the driver's CUstream is a pointer to it */

typedef struct ctxrt_stream ctxrt_stream;
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
 */
CTXRT_API ctxrt_status ctxrt_stream_create(unsigned int flags, int priority,
                                           ctxrt_stream **out_stream) CTXRT_CHECK_RESULT;

/**
 * Destroys a stream; returns at once, work that is in it goes on to its end. NULL is harmless.
 *
 * @retval CTXRT_ERROR_IN_USE            it is the current stream of a frame of some thread
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  it is a thread's default stream, or the legacy one
 */
CTXRT_API ctxrt_status ctxrt_stream_destroy(ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/** Waits until all work submitted to the stream so far is done. */
CTXRT_API ctxrt_status ctxrt_stream_synchronize(ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/** CTXRT_SUCCESS if all work of the stream is done, CTXRT_ERROR_NOT_READY if not. */
CTXRT_API ctxrt_status ctxrt_stream_query(ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/**
 * Lets work submitted to `stream` from now on wait for what `event` has recorded so far. The two may
 * belong to different contexts and devices of one driver; across drivers the host waits.
 */
CTXRT_API ctxrt_status ctxrt_stream_wait_event(ctxrt_stream *stream,
                                               ctxrt_event *event) CTXRT_CHECK_RESULT;

/**
 * Calls `function(user_data)` on a thread of the driver when the work before it is done; work behind it
 * waits for it to return. The function must not call ctxrt or the driver.
 */
CTXRT_API ctxrt_status ctxrt_stream_add_host_function(ctxrt_stream *stream, void (*function)(void *),
                                                      void *user_data) CTXRT_CHECK_RESULT;

/** The context of a stream. Borrowed. */
CTXRT_API ctxrt_status ctxrt_stream_context(ctxrt_stream *stream,
                                            ctxrt_context **out_context) CTXRT_CHECK_RESULT;

/** The driver's CUstream. Borrowed. */
CTXRT_API ctxrt_status ctxrt_stream_native(ctxrt_stream *stream,
                                           struct CUstream_st **out_native) CTXRT_CHECK_RESULT;

/**
 * A handle for a CUstream that other code made in the calling thread's current context. ctxrt does
 * not own the native stream; destroying the handle leaves it alone.
 */
CTXRT_API ctxrt_status ctxrt_stream_from_native(struct CUstream_st *native,
                                                ctxrt_stream **out_stream) CTXRT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
