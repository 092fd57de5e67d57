/* Launching graphs. */
#include "base/cancel.h"
#include "base/error.h"
#include "context/context_guard.h"
#include "context/use.h"
#include "graph/graph.h"
#include "work/default_stream.h"
#include "work/event.h"

/* ---- choosing the stream ---- */

static ctxrt_status resolve_default(cx_thread *thread, cx_context *context,
                                    cx_stream_target *out_target)
{
    ctxrt_stream *stream;
    cx_context_guard guard;
    ctxrt_status status =
        cx_context_map_error(context, "graph", cx_context_guard_enter(context, &guard));
    if (status != CTXRT_SUCCESS)
        return status;
    status = cx_default_stream_get(thread, context, &stream);
    cx_context_guard_leave(&guard);
    return status == CTXRT_SUCCESS ? cx_stream_resolve_handle(stream, out_target) : status;
}

/* For NULL: the current stream of a top frame of this context, else the thread's default stream in
 * the context. Having no frame is no error. */
static ctxrt_status resolve_null(cx_context *context, cx_stream_target *out_target)
{
    cx_thread *thread;
    cx_frame *frame;
    cx_error_saved saved;
    ctxrt_status status = cx_thread_self(&thread);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_error_save(&saved);
    status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS && cx_frame_context(frame) == context)
        return cx_stream_of_frame(thread, frame, out_target);
    if (status != CTXRT_SUCCESS && status != CTXRT_ERROR_NO_DEVICE)
        return status;
    cx_error_restore(&saved);
    return resolve_default(thread, context, out_target);
}

static ctxrt_status resolve_stream(cx_context *context, const ctxrt_stream *stream,
                                   cx_stream_target *out_target)
{
    ctxrt_status status = stream != NULL ? cx_stream_resolve_handle(stream, out_target)
                                         : resolve_null(context, out_target);
    if (status == CTXRT_SUCCESS && out_target->driver != context->driver)
        return cx_error(CTXRT_ERROR_WRONG_CONTEXT,
                        "the graph is of %s, and the stream of %s, which is another driver's",
                        cx_context_text(context), cx_context_text(out_target->context));
    return status;
}

/* ---- order ---- */

/* ---- launching ---- */

typedef struct launching {
    const cx_graph *graph;
    cx_stream_target target;
    ctxrt_scope scope; /* open while operators are called */
    bool held;         /* the contexts of the graph and of the stream are pinned */
} launching;

/* Not held while operators are called: they may wait for a reset, or make one. */
static ctxrt_status pin_contexts(launching *self)
{
    const cx_sequence *sequence = self->graph->sequence;
    cx_context *own = sequence->context, *other = self->target.context;
    if (self->held)
        return CTXRT_SUCCESS;
    if (!cx_context_pin_epoch(own, sequence->epoch))
        return cx_block_overtaken(own);
    self->held = cx_context_pin_epoch(other, self->target.epoch);
    if (self->held)
        return CTXRT_SUCCESS;
    cx_context_unpin(own);
    return cx_block_overtaken(other);
}

static void let_go(launching *self)
{
    if (!self->held)
        return;
    cx_context_unpin(self->target.context);
    cx_context_unpin(self->graph->sequence->context);
    self->held = false;
}

/* Operators run with the graph's context and the launch's stream current. */
static ctxrt_status enter_scope(launching *self)
{
    if (self->scope.serial != 0)
        return CTXRT_SUCCESS;
    ctxrt_status status =
        ctxrt_scope_enter_context(cx_context_handle(self->target.context), &self->scope);
    return status == CTXRT_SUCCESS ? ctxrt_frame_set_stream(self->target.stream) : status;
}

static ctxrt_status call_operators(launching *self, const cx_graph_piece *piece)
{
    const cx_operator *operators = self->graph->sequence->operators;
    let_go(self);
    ctxrt_status status = enter_scope(self);
    for (size_t i = piece->first; i < piece->first + piece->count && status == CTXRT_SUCCESS; i++)
        status = cx_operator_run(cx_thread_current, &operators[i], i + 1);
    return status;
}

static ctxrt_status launch_captured(launching *self, CUgraphExec exec)
{
    ctxrt_status status = pin_contexts(self);
    return status == CTXRT_SUCCESS
               ? CX_DRIVER_CALL(self->target.driver, graph_launch, (exec, self->target.native))
               : status;
}

static ctxrt_status launch_pieces(launching *self)
{
    ctxrt_status status = CTXRT_SUCCESS;
    const cx_sequence *sequence = self->graph->sequence;
    for (size_t i = 0; i < sequence->piece_count && status == CTXRT_SUCCESS; i++)
        status = self->graph->execs[i] != NULL ? launch_captured(self, self->graph->execs[i])
                                               : call_operators(self, &sequence->pieces[i]);
    cx_error_saved saved;
    cx_error_save(&saved);
    ctxrt_status left = ctxrt_scope_leave(&self->scope);
    if (status == CTXRT_SUCCESS)
        return left;
    cx_error_restore(&saved);
    return status;
}

/* Records the event even if a piece failed: earlier pieces were submitted. */
static ctxrt_status launch_in_order(cx_graph *graph, launching *self)
{
    bool capturing;
    cx_error_saved saved;
    ctxrt_status status = cx_stream_is_capturing(&self->target, &capturing);
    if (status != CTXRT_SUCCESS || capturing)
        return status == CTXRT_SUCCESS ? launch_pieces(self) : status;
    status = cx_launch_order_begin(&graph->order, graph->sequence, &self->target);
    if (status != CTXRT_SUCCESS)
        return status;
    status = launch_pieces(self);
    cx_error_save(&saved);
    ctxrt_status recorded = pin_contexts(self);
    if (recorded == CTXRT_SUCCESS)
        recorded = cx_launch_order_end(&graph->order, &self->target);
    if (status == CTXRT_SUCCESS)
        return recorded;
    cx_error_restore(&saved);
    return status;
}

static ctxrt_status launch_there(cx_graph *graph, launching *self)
{
    ctxrt_status status = pin_contexts(self);
    if (status == CTXRT_SUCCESS)
        status = cx_launch_order_is_needed(graph->sequence) ? launch_in_order(graph, self)
                                                            : launch_pieces(self);
    let_go(self);
    return status;
}

/* ---- streams of other contexts ---- */

static ctxrt_status make_aside(cx_context *context, launching *self)
{
    ctxrt_stream *stream;
    cx_context_guard guard;
    if (!cx_context_pin_epoch(context, self->graph->sequence->epoch))
        return cx_block_overtaken(context);
    ctxrt_status status = cx_context_guard_enter(context, &guard);
    if (status == CTXRT_SUCCESS) {
        status = cx_stream_make(context, CX_STREAM_CREATED, CTXRT_STREAM_NON_BLOCKING, 0, &stream);
        cx_context_guard_leave(&guard);
    }
    if (status == CTXRT_SUCCESS)
        status = cx_stream_resolve_handle(stream, &self->target);
    cx_context_unpin(context);
    return status;
}

static ctxrt_status record_event(const cx_stream_target *stream, CUevent event)
{
    cx_context_guard guard;
    ctxrt_status status = cx_context_guard_enter(stream->context, &guard);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(stream->driver, event_record, (event, stream->native));
    cx_context_guard_leave(&guard);
    return status;
}

static ctxrt_status wait_for(const cx_stream_target *stream, CUevent event)
{
    cx_context_guard guard;
    ctxrt_status status = cx_context_guard_enter(stream->context, &guard);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(stream->driver, stream_wait_event,
                            (stream->native, event, CXU_EVENT_WAIT_DEFAULT));
    cx_context_guard_leave(&guard);
    return status;
}

/* Both contexts are pinned. */
static ctxrt_status order_streams(const cx_stream_target *first, const cx_stream_target *second)
{
    CUevent event;
    ctxrt_status status = cx_event_make_native(first, &event);
    if (status != CTXRT_SUCCESS)
        return status;
    status = record_event(first, event);
    if (status == CTXRT_SUCCESS)
        status = wait_for(second, event);
    (void)first->driver->table.event_destroy(event);
    return status;
}

/* Makes the second stream wait for the present work of the first one. */
static ctxrt_status put_behind(const cx_stream_target *first, const cx_stream_target *second)
{
    if (!cx_context_pin_epoch(first->context, first->epoch))
        return cx_block_overtaken(first->context);
    ctxrt_status status = CTXRT_SUCCESS;
    if (cx_context_pin_epoch(second->context, second->epoch)) {
        status = order_streams(first, second);
        cx_context_unpin(second->context);
    } else {
        status = cx_block_overtaken(second->context);
    }
    cx_context_unpin(first->context);
    return status;
}

/* Launches in a stream of the graph's own context, behind the other stream's present work and
 * before its later work. */
static ctxrt_status launch_aside(cx_graph *graph, launching *self)
{
    const cx_stream_target asked = self->target;
    cx_error_saved saved;
    ctxrt_status status = make_aside(graph->sequence->context, self);
    if (status != CTXRT_SUCCESS)
        return status;
    status = put_behind(&asked, &self->target);
    if (status == CTXRT_SUCCESS) {
        status = launch_there(graph, self);
        cx_error_save(&saved);
        ctxrt_status behind = put_behind(&self->target, &asked);
        if (status == CTXRT_SUCCESS)
            status = behind;
        else
            cx_error_restore(&saved);
    }
    cx_error_save(&saved);
    ctxrt_status destroyed = ctxrt_stream_destroy(self->target.stream);
    if (status == CTXRT_SUCCESS)
        return destroyed;
    cx_error_restore(&saved);
    return status;
}

static bool calls_operators(const cx_graph *graph)
{
    for (size_t i = 0; i < graph->sequence->piece_count; i++)
        if (graph->execs[i] == NULL)
            return true;
    return false;
}

/* A capture takes over the graph's work from any context; operators must be called in their own
 * context. */
static ctxrt_status launch_elsewhere(cx_graph *graph, launching *self)
{
    bool capturing;
    ctxrt_status status = pin_contexts(self);
    if (status == CTXRT_SUCCESS)
        status = cx_stream_is_capturing(&self->target, &capturing);
    if (status == CTXRT_SUCCESS && !capturing) {
        let_go(self);
        return launch_aside(graph, self);
    }
    if (status == CTXRT_SUCCESS && calls_operators(graph))
        status = cx_error(
            CTXRT_ERROR_WRONG_CONTEXT,
            "the graph has operators to be called in %s, and the stream that captures is of %s",
            cx_context_text(graph->sequence->context), cx_context_text(self->target.context));
    if (status == CTXRT_SUCCESS)
        status = launch_pieces(self);
    let_go(self);
    return status;
}

/* ---- the call ---- */

static ctxrt_status launch_graph(cx_graph *graph, const ctxrt_stream *stream)
{
    launching self = {.graph = graph};
    cx_context *context = graph->sequence->context;
    ctxrt_status status = cx_sequence_check(graph->sequence);
    if (status == CTXRT_SUCCESS)
        status = resolve_stream(context, stream, &self.target);
    if (status == CTXRT_SUCCESS)
        status = cx_graph_instantiate(graph, graph->sequence);
    if (status != CTXRT_SUCCESS)
        return status;
    status = self.target.context == context ? launch_there(graph, &self)
                                            : launch_elsewhere(graph, &self);
    return cx_context_map_error(context, "graph", status);
}

ctxrt_status ctxrt_graph_launch(ctxrt_graph *handle, ctxrt_stream *stream)
{
    cx_graph *graph;
    ctxrt_status status = cx_graph_enter(handle, &graph);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    if (cx_lock_enter_once(&graph->lock)) {
        status = launch_graph(graph, stream);
        cx_lock_leave(&graph->lock);
    } else {
        status = cx_error(CTXRT_ERROR_NOT_PERMITTED,
                          "the graph is being launched further up on the calling thread");
    }
    cx_cancel_restore(cancel);
    return cx_graph_leave(handle, status);
}
