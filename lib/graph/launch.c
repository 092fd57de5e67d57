/* Launching graphs. */
#include "base/cancel.h"
#include "base/error.h"
#include "context/excursion.h"
#include "graph/graph.h"
#include "work/default_stream.h"

/* ---- where to ---- */

static ctxrt_status default_stream_of(cx_context *context, cx_stream_target *out_target)
{
    cx_thread *thread;
    cx_excursion excursion;
    ctxrt_stream *stream;
    ctxrt_status status = cx_thread_self(&thread);
    if (status == CTXRT_SUCCESS)
        status = cx_context_blame(context, "graph", cx_excursion_begin(context, &excursion));
    if (status != CTXRT_SUCCESS)
        return status;
    status = cx_default_stream_get(thread, context, &stream);
    cx_excursion_end(&excursion);
    return status == CTXRT_SUCCESS ? cx_stream_resolve_handle(stream, out_target) : status;
}

/* Whether the top frame is of the context: no frame is no error. */
static ctxrt_status look_at_top(const cx_context *context, bool *out_same)
{
    cx_thread *thread;
    cx_frame *frame;
    cx_error_saved saved;
    cx_error_save(&saved);
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    *out_same = status == CTXRT_SUCCESS && cx_frame_context(frame) == context;
    if (status != CTXRT_ERROR_NO_DEVICE)
        return status;
    cx_error_restore(&saved);
    return CTXRT_SUCCESS;
}

static ctxrt_status resolve_stream(cx_context *context, ctxrt_stream *stream, cx_stream_target *out_target)
{
    bool same = true;
    ctxrt_status status = CTXRT_SUCCESS;
    if (stream == NULL)
        status = look_at_top(context, &same);
    if (status != CTXRT_SUCCESS)
        return status;
    if (!same)
        return default_stream_of(context, out_target);
    status = cx_stream_resolve(stream, out_target);
    if (status == CTXRT_SUCCESS && out_target->context != context)
        return cx_error(CTXRT_ERROR_WRONG_CONTEXT, "the graph is of %s, and the stream of %s",
                        cx_context_text(context), cx_context_text(out_target->context));
    return status;
}

/* ---- launching ---- */

static ctxrt_status launch_pieces(const cx_graph *graph, const cx_stream_target *target)
{
    ctxrt_status status = CTXRT_SUCCESS;
    for (size_t i = 0; i < graph->sequence->piece_count && status == CTXRT_SUCCESS; i++)
        status = CX_DRIVER_CALL(target->driver, graph_launch, (graph->execs[i], target->native));
    return cx_context_blame(target->context, "graph", status);
}

static ctxrt_status launch(cx_graph *graph, ctxrt_stream *stream)
{
    cx_stream_target target;
    ctxrt_status status = cx_sequence_check(graph->sequence);
    if (status == CTXRT_SUCCESS)
        status = resolve_stream(graph->sequence->context, stream, &target);
    if (status == CTXRT_SUCCESS)
        status = cx_graph_instantiate(graph, graph->sequence);
    return status == CTXRT_SUCCESS ? launch_pieces(graph, &target) : status;
}

ctxrt_status ctxrt_graph_launch(ctxrt_graph *handle, ctxrt_stream *stream)
{
    cx_graph *graph;
    ctxrt_status status = cx_graph_enter(handle, &graph);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    if (pthread_mutex_lock(&graph->lock) == 0) {
        status = launch(graph, stream);
        pthread_mutex_unlock(&graph->lock);
    } else {
        status = cx_error(CTXRT_ERROR_NOT_PERMITTED,
                          "the graph is being launched further up on the calling thread");
    }
    cx_cancel_restore(cancel);
    return cx_graph_leave(handle, status);
}
