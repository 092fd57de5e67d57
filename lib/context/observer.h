/*
 * Observers of contexts, streams and threads. The rooms above attach objects to these. Before the
 * first one, a room registers one struct of functions that clean up: one for each occasion it cares
 * about, NULL for the others. They are called from the uppermost room down, whichever came first: a
 * room may use what the rooms below keep, such as streams.
 */
#ifndef CX_CONTEXT_OBSERVER_H
#define CX_CONTEXT_OBSERVER_H

#include "context/thread.h"

typedef struct cx_observer {
    /* Before a context is destroyed or released. The driver alone has pushed the context on the
     * calling thread. */
    void (*context_closes)(cx_context *context);
    /* The driver has destroyed everything in the context: after a reset, or `for_good` if the
     * record of the context goes too. */
    void (*context_is_empty)(cx_context *context, bool for_good);
    /* Before a reset of the device destroys everything in the context. */
    void (*context_is_reset)(cx_context *context);
    /* Adds the memory that allocators count in the context. Takes no lock before "caches". */
    void (*count_memory)(const cx_context *context, cx_context_memory *sum);
    /* The device begins to reach memory of the context, or no longer does: the driver's peer access
     * does not cover all memory. */
    cxu_result (*peer_changes)(const cx_context *context, CUdevice device, bool reaches);
    /* Before a stream is destroyed, or the handle of another code's stream. */
    void (*stream_closes)(const cx_context *context, const ctxrt_stream *stream);
    /* On the ending thread, with the lock "threads" held; makes no driver call. */
    void (*thread_ends)(cx_thread *thread);
    /* With no lock held: reports what is left. */
    void (*shutdown_is_refused)(void);
} cx_observer;

/* The rooms that observe, from below. */
typedef enum cx_observing_room {
    CX_OBSERVED_BY_WORK,
    CX_OBSERVED_BY_MEMORY,
    CX_OBSERVED_BY_COPY,
    CX_OBSERVED_BY_GRAPH,
    CX_OBSERVED_BY_HANDLES, /* of operator libraries, which may use all of these */
    CX_OBSERVERS
} cx_observing_room;

/* Registers the observer of a room, which is static. Registering it again does nothing. */
void cx_observe(cx_observing_room room, const cx_observer *observer);

/* NULL: the room has none yet. */
const cx_observer *cx_observer_at(int room);

/* Calls the function `occasion` of each observer that has it. */
#define CX_OBSERVERS_CALL(occasion, ...)                            \
    do {                                                            \
        for (int at_ = CX_OBSERVERS - 1; at_ >= 0; at_--) {     \
            const cx_observer *observer_ = cx_observer_at(at_);     \
            if (observer_ != NULL && observer_->occasion != NULL)   \
                observer_->occasion(__VA_ARGS__);                   \
        }                                                           \
    } while (0)

#endif
