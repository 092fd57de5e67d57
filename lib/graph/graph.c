#include "graph/graph.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/handle.h"
#include "context/context_guard.h"
#include <stdlib.h>

cx_pool cx_graphs = CX_POOL_INIT("graph", 7, cx_graph);

/* ---- instantiation ---- */

static ctxrt_status instantiate_piece(const cx_driver *driver, CUgraph native,
                                      CUgraphExec *out_exec)
{
    CUgraphNode offender;
    char log[256];
    if (!driver->missing[CX_SLOT_graph_instantiate_with_flags])
        return CX_DRIVER_CALL(driver, graph_instantiate_with_flags, (out_exec, native, 0));
    if (!driver->missing[CX_SLOT_graph_instantiate_v2])
        return CX_DRIVER_CALL(driver, graph_instantiate_v2,
                              (out_exec, native, &offender, log, sizeof log));
    return CX_DRIVER_CALL(driver, graph_instantiate_v1,
                          (out_exec, native, &offender, log, sizeof log));
}

/* Returns the driver's first error. */
static ctxrt_status destroy_execs(const cx_driver *driver, CUgraphExec *execs, size_t count)
{
    ctxrt_status status = CTXRT_SUCCESS;
    for (size_t i = 0; i < count; i++) {
        if (execs[i] == NULL)
            continue;
        cxu_result result = driver->table.graph_exec_destroy(execs[i]);
        if (status == CTXRT_SUCCESS)
            status = cx_driver_check(driver, CX_SLOT_graph_exec_destroy, result);
    }
    free(execs);
    return status;
}

static ctxrt_status instantiate_pieces(const cx_sequence *sequence, CUgraphExec *execs)
{
    ctxrt_status status = CTXRT_SUCCESS;
    const cx_driver *driver = sequence->context->driver;
    size_t done = 0;
    while (done < sequence->piece_count && status == CTXRT_SUCCESS) {
        if (sequence->pieces[done].native != NULL)
            status = instantiate_piece(driver, sequence->pieces[done].native, &execs[done]);
        done += status == CTXRT_SUCCESS;
    }
    if (status == CTXRT_SUCCESS)
        return status;
    cx_error_saved saved;
    cx_error_save(&saved);
    (void)destroy_execs(driver, execs, done);
    cx_error_restore(&saved);
    return cx_context_map_error(sequence->context, "graph", status);
}

ctxrt_status cx_graph_instantiate(cx_graph *graph, const cx_sequence *sequence)
{
    cx_context_guard guard;
    if (graph->execs != NULL)
        return CTXRT_SUCCESS;
    CUgraphExec *execs = calloc(sequence->piece_count + 1, sizeof(CUgraphExec));
    if (execs == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to instantiate a graph");
    ctxrt_status status = cx_context_guard_enter(sequence->context, &guard);
    if (status != CTXRT_SUCCESS) {
        free(execs);
        return cx_context_map_error(sequence->context, "graph", status);
    }
    status = instantiate_pieces(sequence, execs);
    cx_context_guard_leave(&guard);
    if (status == CTXRT_SUCCESS)
        graph->execs = execs;
    return status;
}

/* ---- making and destroying ---- */

static ctxrt_status no_memory(const cx_context *context)
{
    return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a graph in %s",
                    cx_context_text(context));
}

ctxrt_status cx_graph_take(const cx_context *context, cx_graph **out_graph)
{
    cx_graph *graph = cx_pool_take(&cx_graphs);
    if (graph == NULL)
        return no_memory(context);
    if (!cx_lock_init_once(&graph->lock, CX_RANK_GRAPH)) {
        cx_pool_put_back(&cx_graphs, graph);
        return no_memory(context);
    }
    graph->sequence = NULL;
    graph->execs = NULL;
    graph->order = (cx_launch_order){0};
    *out_graph = graph;
    return CTXRT_SUCCESS;
}

void cx_graph_put_back(cx_graph *graph)
{
    cx_lock_destroy(&graph->lock);
    cx_pool_put_back(&cx_graphs, graph);
}

ctxrt_graph *cx_graph_publish(cx_graph *graph, cx_sequence *sequence)
{
    graph->sequence = sequence;
    cx_context_object_add(sequence->context, CX_OBJECT_GRAPH);
    ctxrt_graph *handle = cx_pool_publish(&cx_graphs, graph);
    cx_count_start(&graph->count, handle);
    return handle;
}

/* The driver's graphs belong to no context, and outlive a reset. */
static ctxrt_status destroy_graph(cx_graph *graph)
{
    cx_error_saved saved;
    ctxrt_status finished = cx_launch_order_finish(&graph->order, graph->sequence);
    cx_error_save(&saved);
    ctxrt_status status = CTXRT_SUCCESS;
    if (graph->execs != NULL)
        status = destroy_execs(graph->sequence->context->driver, graph->execs,
                               graph->sequence->piece_count);
    if (finished == CTXRT_SUCCESS)
        return status;
    cx_error_restore(&saved);
    return finished;
}

static ctxrt_status end_graph(cx_graph *graph)
{
    cx_error_saved saved;
    cx_sequence *sequence = graph->sequence;
    cx_context *context = sequence->context;
    ctxrt_status status = destroy_graph(graph);
    cx_error_save(&saved);
    ctxrt_status released = cx_sequence_release(sequence);
    cx_graph_put_back(graph);
    cx_context_object_drop(context, CX_OBJECT_GRAPH);
    if (status == CTXRT_SUCCESS)
        return released;
    cx_error_restore(&saved);
    return status;
}

/* ---- counts ---- */

static ctxrt_status no_such_graph(const ctxrt_graph *handle)
{
    return cx_handle_error("graph", handle,
                           "its last count was given back, or it never was one");
}

static ctxrt_status take_count(const ctxrt_graph *handle, cx_graph **out_graph)
{
    cx_graph *graph = cx_pool_find(&cx_graphs, handle);
    cx_count_result result = graph != NULL ? cx_count_add(&graph->count, handle) : CX_COUNT_STALE;
    if (result == CX_COUNT_FULL)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "the graph has too many counts");
    if (result == CX_COUNT_STALE)
        return no_such_graph(handle);
    *out_graph = graph;
    return CTXRT_SUCCESS;
}

static ctxrt_status give_count(const ctxrt_graph *handle)
{
    cx_graph *graph = cx_pool_find(&cx_graphs, handle);
    cx_count_result result = graph != NULL ? cx_count_drop(&graph->count, handle) : CX_COUNT_STALE;
    if (result == CX_COUNT_STALE ||
        (result == CX_COUNT_LAST && cx_pool_retire(&cx_graphs, handle) == NULL))
        return no_such_graph(handle);
    return result == CX_COUNT_LAST ? end_graph(graph) : CTXRT_SUCCESS;
}

ctxrt_status cx_graph_enter(ctxrt_graph *handle, cx_graph **out_graph)
{
    ctxrt_status status = cx_runtime_enter();
    return status == CTXRT_SUCCESS ? take_count(handle, out_graph) : status;
}

ctxrt_status cx_graph_leave(ctxrt_graph *handle, ctxrt_status status)
{
    cx_error_saved saved;
    if (status == CTXRT_SUCCESS)
        return give_count(handle);
    cx_error_save(&saved);
    (void)give_count(handle);
    cx_error_restore(&saved);
    return status;
}

ctxrt_status ctxrt_graph_retain(ctxrt_graph *handle)
{
    cx_graph *graph;
    return cx_graph_enter(handle, &graph);
}

ctxrt_status ctxrt_graph_release(ctxrt_graph *handle)
{
    ctxrt_status status;
    if (!cx_runtime_enter_release(&status) || handle == NULL)
        return status;
    return give_count(handle);
}

/* ---- queries ---- */

ctxrt_status ctxrt_graph_context(ctxrt_graph *handle, ctxrt_context **out_context)
{
    cx_graph *graph;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_context == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_graph_context: out_context is NULL");
    status = take_count(handle, &graph);
    if (status != CTXRT_SUCCESS)
        return status;
    ctxrt_context *context = cx_context_handle(graph->sequence->context);
    status = give_count(handle);
    if (status == CTXRT_SUCCESS)
        *out_context = context;
    return status;
}

static ctxrt_status copy_graph(cx_sequence *sequence, ctxrt_graph **out_clone)
{
    cx_graph *graph;
    ctxrt_status status = cx_sequence_check(sequence);
    if (status == CTXRT_SUCCESS)
        status = cx_graph_take(sequence->context, &graph);
    if (status != CTXRT_SUCCESS)
        return status;
    status = cx_graph_instantiate(graph, sequence);
    if (status != CTXRT_SUCCESS) {
        cx_graph_put_back(graph);
        return status;
    }
    cx_sequence_retain(sequence);
    *out_clone = cx_graph_publish(graph, sequence);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_graph_clone(ctxrt_graph *handle, ctxrt_graph **out_clone)
{
    cx_graph *graph;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_clone == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_graph_clone: out_clone is NULL");
    status = take_count(handle, &graph);
    if (status != CTXRT_SUCCESS)
        return status;
    return cx_graph_leave(handle, copy_graph(graph->sequence, out_clone));
}
