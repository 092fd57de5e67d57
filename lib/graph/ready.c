#include "graph/ready.h"

#include "base/cancel.h"
#include "base/error.h"
#include "context/context_guard.h"
#include "context/use.h"
#include "memory/block.h"
#include "work/capture_gate.h"
#include "work/relaxed_capture.h"
#include "work/stream.h"

/* *out_recorded: false if the stream captures; it is left alone then. */
static ctxrt_status record_in_stream(cx_sequence *sequence, const cx_stream_target *target,
                                     bool *out_recorded)
{
    CUevent event;
    const cx_driver *driver = target->driver;
    ctxrt_status status = CX_DRIVER_CALL(driver, event_create, (&event, CXU_EVENT_DISABLE_TIMING));
    if (status != CTXRT_SUCCESS)
        return status;
    *out_recorded = cx_capture_gate_enter(driver, target->native);
    if (*out_recorded) {
        status = CX_DRIVER_CALL(driver, event_record, (event, target->native));
        *out_recorded = cx_relaxed_capture_may_query(driver, target->native);
        cx_capture_gate_leave(target->native);
    }
    if (*out_recorded && status == CTXRT_SUCCESS)
        sequence->ready[sequence->ready_count++] = event;
    else
        (void)driver->table.event_destroy(event);
    return status;
}

/* ---- destroyed streams ---- */

typedef struct capture_search {
    const cx_context *context;
    bool found;
} capture_search;

static bool stream_captures(void *object, void *argument)
{
    const cx_stream *stream = object;
    capture_search *self = argument;
    if (atomic_load(&stream->context) == self->context &&
        atomic_load(&stream->epoch) == atomic_load(&self->context->epoch) &&
        !cx_relaxed_capture_may_query(self->context->driver, atomic_load(&stream->native)))
        self->found = true;
    return !self->found;
}

/* Waiting for a context ends the captures of its streams. The pool's lock, held while the driver is
 * asked, keeps the streams alive. */
static bool any_captures(const cx_context *context)
{
    capture_search search = {.context = context};
    cx_pool_each_held(&cx_streams, stream_captures, &search);
    return search.found;
}

static ctxrt_status synchronize_context(cx_context *context)
{
    cx_context_guard guard;
    ctxrt_status status = cx_context_guard_enter(context, &guard);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_relaxed_capture relaxed = cx_relaxed_capture_begin(context->driver);
    int cancel = cx_cancel_hold();
    status = CX_DRIVER_CALL(context->driver, ctx_synchronize, ());
    cx_cancel_restore(cancel);
    cx_relaxed_capture_end(&relaxed);
    cx_context_guard_leave(&guard);
    return status;
}

ctxrt_status cx_ready_wait_for_context(cx_context *context)
{
    if (any_captures(context))
        return cx_error(CTXRT_ERROR_NOT_PERMITTED,
                        "the graph's memory was used in a stream that is gone, and %s cannot be "
                        "waited for while a stream of it captures: launch the graph after that",
                        cx_context_text(context));
    return synchronize_context(context);
}

ctxrt_status cx_ready_settle(cx_sequence *sequence)
{
    if (!atomic_load(&sequence->unsettled))
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_ready_wait_for_context(sequence->context);
    if (status == CTXRT_SUCCESS)
        atomic_store(&sequence->unsettled, false);
    return status;
}

/* The context is pinned. For a destroyed or capturing stream, only a wait for the whole context
 * helps. */
static ctxrt_status record_in_streams(cx_sequence *sequence, const cx_private_pool_use *use)
{
    cx_stream_target last, target;
    cx_error_saved saved;
    bool recorded = true, all = use->stream_count <= CX_PRIVATE_POOL_STREAMS_MAX;
    ctxrt_status status = cx_stream_resolve(NULL, &last);
    if (status == CTXRT_SUCCESS)
        status = record_in_stream(sequence, &last, &recorded);
    all = all && recorded;
    for (uint32_t i = 0; i < use->stream_count && i < CX_PRIVATE_POOL_STREAMS_MAX; i++) {
        if (use->streams[i] == last.stream)
            continue;
        recorded = cx_pool_find(&cx_streams, use->streams[i]) != NULL &&
                   cx_stream_resolve_handle(use->streams[i], &target) == CTXRT_SUCCESS;
        if (status == CTXRT_SUCCESS && recorded)
            status = record_in_stream(sequence, &target, &recorded);
        all = all && recorded;
    }
    if (status != CTXRT_SUCCESS || all)
        return status;
    atomic_store(&sequence->unsettled, true);
    cx_error_save(&saved);
    status = cx_ready_settle(sequence);
    if (status != CTXRT_ERROR_NOT_PERMITTED)
        return status;
    cx_error_restore(&saved);
    return CTXRT_SUCCESS;
}

ctxrt_status cx_ready_record(cx_sequence *sequence, const cx_private_pool_use *use)
{
    if (!cx_context_pin_epoch(sequence->context, sequence->epoch))
        return cx_block_overtaken(sequence->context);
    ctxrt_status status = record_in_streams(sequence, use);
    cx_context_unpin(sequence->context);
    return status;
}
