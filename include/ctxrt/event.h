/**
 * Events: points in a stream's work that other streams and the host can wait for; and the time
 * between two. Only ctxrt_event_create and ctxrt_event_from_native, and ctxrt_event_record into a
 * NULL or legacy stream, need a current context; no call changes it. Thread-safe. Handles as in
 * context.h.
 *
 * Besides the errors named at each function: CTXRT_ERROR_NULL_POINTER if the event is NULL,
 * CTXRT_ERROR_INVALID_HANDLE if it was destroyed or never was one, CTXRT_ERROR_CONTEXT_DESTROYED if
 * its context was reset.
 */
#ifndef CTXRT_EVENT_H
#define CTXRT_EVENT_H

#include <ctxrt/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUevent_st; /* the driver's CUevent is a pointer to it */

enum {
    CTXRT_EVENT_DEFAULT = 0,
    CTXRT_EVENT_BLOCKING_SYNC = 1, /**< a thread that waits for it sleeps instead of spinning */
    CTXRT_EVENT_DISABLE_TIMING = 2, /**< cheaper; has no time */
    /** can be exported to other processes; needs DISABLE_TIMING */
    CTXRT_EVENT_INTERPROCESS = 4
};

/**
 * Creates an event in the calling thread's current context. The caller owns it.
 *
 * @param flags  CTXRT_EVENT_*
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no such flags, or INTERPROCESS without DISABLE_TIMING
 */
CTXRT_API ctxrt_status ctxrt_event_create(unsigned int flags,
                                          ctxrt_event **out_event) CTXRT_CHECK_RESULT;

/**
 * Creates an event as ctxrt_event_create does, in `context` as ctxrt_stream_create_on does.
 *
 * @param flags  CTXRT_EVENT_*
 */
CTXRT_API ctxrt_status ctxrt_event_create_on(ctxrt_context *context, unsigned int flags,
                                             ctxrt_event **out_event) CTXRT_CHECK_RESULT;

/**
 * Destroys an event; returns at once; work that waits for it goes on waiting. NULL is harmless. An
 * event whose context was reset is gone already: then only the handle goes.
 *
 * @retval CTXRT_ERROR_DRIVER  the driver reported an error, maybe of earlier work; the event is
 *                             destroyed all the same
 */
CTXRT_API ctxrt_status ctxrt_event_destroy(ctxrt_event *event) CTXRT_CHECK_RESULT;

/** For CTXRT_SCOPE_EVENT only. */
static inline void ctxrt_event_cleanup(ctxrt_event **event)
{
    (void)ctxrt_event_destroy(*event);
}

#ifdef CTXRT_CLEANUP
/**
 * Declares an event that is destroyed at the end of the block, on every path: CTXRT_SCOPE_EVENT
 * ctxrt_event *e = NULL;
 */
#define CTXRT_SCOPE_EVENT CTXRT_CLEANUP(ctxrt_event_cleanup)
#endif

/**
 * Records the event behind the work submitted to `stream` so far; NULL: the current stream.
 *
 * @retval CTXRT_ERROR_WRONG_CONTEXT  the event and the stream belong to different contexts
 */
CTXRT_API ctxrt_status ctxrt_event_record(ctxrt_event *event,
                                          ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/** CTXRT_SUCCESS if the work that the event last recorded is done, or it never recorded;
 * CTXRT_ERROR_NOT_READY if not. Never waits. */
CTXRT_API ctxrt_status ctxrt_event_query(ctxrt_event *event) CTXRT_CHECK_RESULT;

/** Waits until the work that the event last recorded is done; returns at once if it never
 * recorded. */
CTXRT_API ctxrt_status ctxrt_event_synchronize(ctxrt_event *event) CTXRT_CHECK_RESULT;

/**
 * Waits as ctxrt_event_synchronize does, but no longer than about `timeout_ms` milliseconds, in the
 * way of ctxrt_stream_synchronize_for.
 *
 * @param timeout_ms  0: does not wait; UINT64_MAX: as long as it takes
 * @retval CTXRT_ERROR_NOT_READY  the time is over, and the work is not done
 */
CTXRT_API ctxrt_status ctxrt_event_synchronize_for(ctxrt_event *event,
                                                   uint64_t timeout_ms) CTXRT_CHECK_RESULT;

/**
 * Milliseconds from `start` to `end`; negative if `end` came first.
 *
 * @param out_ms  the time between the two
 * @retval CTXRT_ERROR_NOT_READY         one of them is not done
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  one was never recorded, or has no timing
 * @retval CTXRT_ERROR_WRONG_CONTEXT     they belong to different contexts
 */
CTXRT_API ctxrt_status ctxrt_event_elapsed_ms(ctxrt_event *start, ctxrt_event *end,
                                              float *out_ms) CTXRT_CHECK_RESULT;

/** The driver's CUevent. Borrowed. */
CTXRT_API ctxrt_status ctxrt_event_native(ctxrt_event *event,
                                          struct CUevent_st **out_native) CTXRT_CHECK_RESULT;

/**
 * Makes a handle for a CUevent that other code made in the calling thread's current context. ctxrt
 * does not own the native event; destroying the handle leaves it alone. Keep the event alive while
 * the handle is. No driver tells the context of an event: one of another context is refused by the
 * driver when it is recorded. Not for an event that a stream which captures recorded last: the
 * driver is asked about the event, and such a question invalidates the capture.
 *
 * @retval CTXRT_ERROR_INVALID_HANDLE  the driver does not know the event
 * @retval CTXRT_ERROR_DRIVER          the driver reported an error, maybe of earlier work
 */
CTXRT_API ctxrt_status ctxrt_event_from_native(struct CUevent_st *native,
                                               ctxrt_event **out_event) CTXRT_CHECK_RESULT;

/** An event on its way to another process of this machine: plain bytes, for any channel. */
typedef struct ctxrt_exported_event {
    unsigned char token[64];
} ctxrt_exported_event;

/**
 * Exports an event to other processes. Keep it alive while they use it. What any process records is
 * waited for, and queried, in all of them.
 *
 * @param out_exported  what ctxrt_event_import takes in the other process
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  it was made without CTXRT_EVENT_INTERPROCESS
 * @retval CTXRT_ERROR_NOT_SUPPORTED     the driver has no such call
 */
CTXRT_API ctxrt_status ctxrt_event_export(ctxrt_event *event,
                                          ctxrt_exported_event *out_exported) CTXRT_CHECK_RESULT;

/**
 * Opens an event that another process exported, in the calling thread's current context, which is
 * of the event's device or a peer of it. The caller owns it.
 *
 * @retval CTXRT_ERROR_INVALID_HANDLE  the event is gone, or never was one
 * @retval CTXRT_ERROR_NOT_SUPPORTED   the driver has no such call
 * @retval CTXRT_ERROR_DRIVER          the driver refused: the event is this process's own, say
 */
CTXRT_API ctxrt_status ctxrt_event_import(const ctxrt_exported_event *exported,
                                          ctxrt_event **out_event) CTXRT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
