/*
 * Uses of memory by streams: events behind the work that must be done before the memory is freed.
 */
#ifndef CX_MEMORY_STREAM_USES_H
#define CX_MEMORY_STREAM_USES_H

#include "work/stream.h"
#include <ctxrt/event.h>

/* A stream that uses a block. A use counts as memory of its context, and so keeps the context from
 * being destroyed. */
typedef struct cx_stream_use {
    cx_context *context;
    uint32_t epoch;
    const ctxrt_stream *stream; /* a handle, so that a later stream is not mistaken for this one */
    CUevent event;
    /* A cross-driver copy instead of an event: a handle for cross_driver_copies.h. It does not
     * keep the context from ending: the end of a context waits for its copies. */
    _Atomic(void *) cross_copy;
    bool kept; /* its context is counted: not after cx_stream_uses_let_go */
    struct cx_stream_use *next;
} cx_stream_use;

/* The uses of one block: any number of threads may add. */
typedef _Atomic(cx_stream_use *) cx_stream_uses;

/* The memory that a list of uses belongs to. */
typedef struct cx_used_memory {
    cx_context *context; /* NULL: none */
    uint32_t epoch;
    cx_stream_uses *uses;
} cx_used_memory;

/* Records an event behind the stream's present work (NULL: the current stream). One event for each
 * stream: a later one replaces the earlier one. A reset of the memory's context waits for it, too:
 * peer_use.h. */
ctxrt_status cx_stream_uses_record(const cx_used_memory *memory, ctxrt_stream *stream);

/* The same for a stream whose context the caller has pinned. Enters no section; the caller keeps
 * captures from beginning in the stream (work/capture_gate.h). */
ctxrt_status cx_stream_uses_record_there(cx_stream_uses *list, const cx_stream_target *target);

/* Adds a cross-driver copy in the order of a stream of `context`. */
ctxrt_status cx_stream_uses_add_cross_copy(cx_stream_uses *list, cx_context *context,
                                           void *cross_copy);

/* Waits for all events and empties the list, to which no thread adds any more. Returns the first
 * error. */
ctxrt_status cx_stream_uses_finish(cx_stream_uses *list);

/* Waits as cx_stream_uses_finish does, then calls `next(object)`. An error of the events takes
 * precedence over its result. */
ctxrt_status cx_stream_uses_finish_before(cx_stream_uses *list,
                                          ctxrt_status (*next)(const void *object),
                                          const void *object);

/* Drops the finished uses; with `wait` waits for all. *out_done: none is left. The contexts of the
 * others are no longer counted: before one ends, its events are waited for. No thread adds to the
 * list any more. Returns the driver's first error; that use stays, since its state is unknown. */
ctxrt_status cx_stream_uses_let_go(cx_stream_uses *list, bool wait, bool *out_done);

/* Waits for the uses by streams of one context, and drops them; the others stay. Returns the first
 * error. No thread adds to the list any more. */
ctxrt_status cx_stream_uses_finish_of(cx_stream_uses *list, const cx_context *context);

/* True if a driver's answer to a question about an event says that it is gone. */
bool cx_stream_uses_event_is_gone(cxu_result result);

/* Destroys an event, unless it went with its context. A thread without memory for its record leaves
 * it to the context. Not in a section, nor with a lock held that sections come before. */
void cx_stream_uses_destroy_event(const cx_context *context, uint32_t epoch, CUevent event);

#endif
