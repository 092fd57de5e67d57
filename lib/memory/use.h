/*
 * Uses of memory by streams: marks behind the work that must be done before the memory is freed.
 */
#ifndef CX_MEMORY_USE_H
#define CX_MEMORY_USE_H

#include "work/stream.h"
#include <ctxrt/event.h>

/* A stream that uses a piece of memory. Its context is kept from being destroyed meanwhile: a use
 * counts as memory of that context. */
typedef struct cx_use {
    cx_context *context;
    uint32_t epoch;
    const ctxrt_stream *stream; /* a handle, so a later stream is not taken for this one */
    CUevent mark;
    /* A copy between two drivers instead of a mark: a handle for across.h. It keeps no context:
     * before one ends its cross-driver copies are waited for. */
    _Atomic(void *) cross_copy;
    bool kept; /* its context is: not after cx_use_let_go */
    struct cx_use *next;
} cx_use;

/* The uses of one piece of memory: any number of threads may add. */
typedef _Atomic(cx_use *) cx_use_list;

/* Marks the work submitted to the stream (NULL: the current one) so far. One mark for each stream:
 * a second one replaces the first. */
ctxrt_status cx_use_record(cx_use_list *list, ctxrt_stream *stream);

/* The same for a stream whose context the caller has pinned. Enters no section: no capture may
 * begin in the stream meanwhile (work/capture_gate.h). */
ctxrt_status cx_use_record_there(cx_use_list *list, const cx_stream_target *target);

/* Adds a copy between two drivers that is under way in the order of a stream of `context`. */
ctxrt_status cx_use_add_cross_copy(cx_use_list *list, cx_context *context, void *cross_copy);

/* Waits for all marks, and empties the list, which nobody adds to any more. The first error. */
ctxrt_status cx_use_finish(cx_use_list *list);

/* The same before `next(object)` is called: what the marks report stays the error, whatever that
 * does. */
ctxrt_status cx_use_finish_before(cx_use_list *list, ctxrt_status (*next)(const void *object),
                                  const void *object);

/* Drops the marks that are reached, with `wait` once they are; *out_done: none is left. Contexts
 * of the others are no longer kept: before one ends its marks are waited for. Nobody adds to the
 * list any more. The first error of the driver, which knows nothing of that mark then: it stays. */
ctxrt_status cx_use_let_go(cx_use_list *list, bool wait, bool *out_done);

/* Whether a mark is of a context. */
bool cx_use_is_of(const cx_use_list *list, const cx_context *context);

#endif
