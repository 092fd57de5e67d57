#include "emu/graph/capture.h"
#include "emu/base/state.h"
#include <stdlib.h>

static cxu_result find_stream(CUstream handle, cx_emu_stream **out_stream)
{
    cxu_result result = cx_emu_stream_find(handle, out_stream);

    return result == CXU_SUCCESS ? cx_emu_capture_check(*out_stream) : result;
}

/* ---- begin and end ---- */

/* G1: the legacy stream cannot capture, the default stream of a green context can. */
static cxu_result find_idle(CUstream handle, cx_emu_stream **out_stream)
{
    cxu_result result = cx_emu_stream_find(handle, out_stream);

    if (result != CXU_SUCCESS)
        return result;
    if ((*out_stream)->branch != NULL)
        return CXU_ILLEGAL_STATE;
    result = cx_emu_capture_check(*out_stream);
    if (result == CXU_SUCCESS && (*out_stream)->context->legacy == *out_stream)
        return CXU_STREAM_CAPTURE_UNSUPPORTED;
    return result;
}

cxu_result cx_emu_call_stream_begin_capture(CUstream handle, cxu_stream_capture_mode mode)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if ((unsigned int)mode > CXU_STREAM_CAPTURE_MODE_RELAXED)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = find_idle(handle, &stream);
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_begin(stream, mode, NULL, NULL);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_stream_begin_capture_v1(CUstream stream)
{
    return cx_emu_call_stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_GLOBAL);
}

static cxu_result begin_to_graph(cx_emu_stream *stream, CUgraph graph_handle,
                                 const CUgraphNode *dependencies, size_t count,
                                 cxu_stream_capture_mode mode)
{
    cx_emu_nodes frontier;
    cx_emu_graph *graph;
    cxu_result result = cx_emu_graph_find(graph_handle, &graph);

    if (result != CXU_SUCCESS)
        return result;
    if (graph->capture != NULL)
        return CXU_ILLEGAL_STATE;
    result = cx_emu_nodes_find(graph, dependencies, count, &frontier);
    if (result != CXU_SUCCESS)
        return result;
    result = cx_emu_capture_begin(stream, mode, graph, &frontier);
    if (result != CXU_SUCCESS)
        cx_emu_nodes_free(&frontier);
    return result;
}

cxu_result cx_emu_call_stream_begin_capture_to_graph(CUstream handle, CUgraph graph,
                                                     const CUgraphNode *dependencies,
                                                     const cxu_graph_edge_data *edges, size_t count,
                                                     cxu_stream_capture_mode mode)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if ((unsigned int)mode > CXU_STREAM_CAPTURE_MODE_RELAXED || !cx_emu_edges_plain(edges, count))
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = find_idle(handle, &stream);
    if (result == CXU_SUCCESS)
        result = begin_to_graph(stream, graph, dependencies, count, mode);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* An invalidated capture must still be ended. */
cxu_result cx_emu_call_stream_end_capture(CUstream handle, CUgraph *out_graph)
{
    cx_emu_stream *stream;
    cx_emu_graph *graph = NULL;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_stream_find(handle, &stream);
    if (result == CXU_SUCCESS && stream->branch == NULL) {
        result = cx_emu_capture_check(stream);
        if (result == CXU_SUCCESS)
            result = CXU_ILLEGAL_STATE;
    } else if (result == CXU_SUCCESS && out_graph == NULL && stream->branch->capture->owns_graph) {
        result = CXU_INVALID_VALUE; /* nobody would own the graph */
    } else if (result == CXU_SUCCESS) {
        result = cx_emu_capture_end(stream, &graph);
        if (out_graph != NULL)
            *out_graph = graph != NULL ? cx_emu_graph_handle(graph) : NULL;
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_thread_exchange_stream_capture_mode(cxu_stream_capture_mode *mode)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    return mode != NULL ? cx_emu_capture_exchange_mode(mode) : CXU_INVALID_VALUE;
}

/* ---- queries: none invalidates a capture ---- */

static cxu_stream_capture_status status_of(const cx_emu_stream *stream)
{
    if (stream->branch == NULL)
        return CXU_STREAM_CAPTURE_STATUS_NONE;
    return stream->branch->capture->invalidated ? CXU_STREAM_CAPTURE_STATUS_INVALIDATED
                                                : CXU_STREAM_CAPTURE_STATUS_ACTIVE;
}

static cxu_result find_to_query(CUstream handle, cx_emu_stream **out_stream)
{
    cxu_result result = cx_emu_stream_find(handle, out_stream);

    if (result == CXU_SUCCESS && cx_emu_capture_conflicts(*out_stream))
        result = CXU_STREAM_CAPTURE_IMPLICIT;
    return result;
}

cxu_result cx_emu_call_stream_is_capturing(CUstream handle, cxu_stream_capture_status *out_status)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_status == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = find_to_query(handle, &stream);
    if (result == CXU_SUCCESS)
        *out_status = status_of(stream);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* The out-parameters of a query; each may be NULL except the first. */
typedef struct answers {
    cxu_stream_capture_status *status;
    uint64_t *id;
    CUgraph *graph;
    const CUgraphNode **dependencies;
    const cxu_graph_edge_data **edges;
    size_t *count;
} answers;

static bool list_frontier(cx_emu_branch *branch)
{
    size_t count = branch->frontier.count;
    CUgraphNode *handles = reallocarray(branch->handles, count + 1, sizeof(CUgraphNode));
    cxu_graph_edge_data *edges;

    if (handles == NULL)
        return false;
    branch->handles = handles;
    edges = reallocarray(branch->edges, count + 1, sizeof(cxu_graph_edge_data));
    if (edges == NULL)
        return false;
    branch->edges = edges;
    for (size_t i = 0; i < count; i++) {
        handles[i] = cx_emu_node_handle(branch->frontier.items[i]);
        edges[i] = (cxu_graph_edge_data){0};
    }
    return true;
}

static cxu_result answer_query(const cx_emu_stream *stream, const answers *out)
{
    cx_emu_branch *branch = stream->branch;

    if (status_of(stream) == CXU_STREAM_CAPTURE_STATUS_ACTIVE) {
        if (out->dependencies != NULL && !list_frontier(branch))
            return CXU_OUT_OF_MEMORY;
        if (out->id != NULL)
            *out->id = branch->capture->id;
        if (out->graph != NULL)
            *out->graph = cx_emu_graph_handle(branch->capture->graph);
        if (out->dependencies != NULL)
            *out->dependencies = branch->handles;
        if (out->edges != NULL)
            *out->edges = branch->edges;
        if (out->count != NULL)
            *out->count = branch->frontier.count;
    }
    *out->status = status_of(stream);
    return CXU_SUCCESS;
}

static cxu_result get_info(CUstream handle, const answers *out)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out->status == NULL || (out->edges != NULL && out->dependencies == NULL))
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = find_to_query(handle, &stream);
    if (result == CXU_SUCCESS)
        result = answer_query(stream, out);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_stream_get_capture_info_v1(CUstream stream,
                                                  cxu_stream_capture_status *out_status,
                                                  uint64_t *out_id)
{
    return get_info(stream, &(answers){.status = out_status, .id = out_id});
}

cxu_result cx_emu_call_stream_get_capture_info_v2(CUstream stream,
                                                  cxu_stream_capture_status *out_status,
                                                  uint64_t *out_id, CUgraph *out_graph,
                                                  const CUgraphNode **out_dependencies,
                                                  size_t *out_count)
{
    return get_info(stream, &(answers){.status = out_status,
                                       .id = out_id,
                                       .graph = out_graph,
                                       .dependencies = out_dependencies,
                                       .count = out_count});
}

cxu_result cx_emu_call_stream_get_capture_info(
    CUstream stream, cxu_stream_capture_status *out_status, uint64_t *out_id, CUgraph *out_graph,
    const CUgraphNode **out_dependencies, const cxu_graph_edge_data **out_edges, size_t *out_count)
{
    return get_info(
        stream, &(answers){out_status, out_id, out_graph, out_dependencies, out_edges, out_count});
}

/* ---- dependencies ---- */

static cxu_result update_frontier(cx_emu_branch *branch, const CUgraphNode *handles, size_t count,
                                  bool set)
{
    cx_emu_nodes nodes;
    cxu_result result = cx_emu_nodes_find(branch->capture->graph, handles, count, &nodes);

    if (result != CXU_SUCCESS)
        return result;
    if (!cx_emu_nodes_reserve(&branch->frontier, nodes.count)) {
        cx_emu_nodes_free(&nodes);
        return CXU_OUT_OF_MEMORY;
    }
    if (set)
        branch->frontier.count = 0;
    for (size_t i = 0; i < nodes.count; i++)
        if (!cx_emu_nodes_have(&branch->frontier, nodes.items[i]))
            cx_emu_nodes_put(&branch->frontier, nodes.items[i]);
    cx_emu_nodes_free(&nodes);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_stream_update_capture_dependencies(CUstream handle,
                                                          CUgraphNode *dependencies,
                                                          const cxu_graph_edge_data *edges,
                                                          size_t count, unsigned int flags)
{
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (flags > CXU_STREAM_SET_CAPTURE_DEPENDENCIES || !cx_emu_edges_plain(edges, count))
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = find_stream(handle, &stream);
    if (result == CXU_SUCCESS && stream->branch == NULL)
        result = CXU_ILLEGAL_STATE;
    if (result == CXU_SUCCESS)
        result = update_frontier(stream->branch, dependencies, count,
                                 flags == CXU_STREAM_SET_CAPTURE_DEPENDENCIES);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_stream_update_capture_dependencies_v1(CUstream stream,
                                                             CUgraphNode *dependencies,
                                                             size_t count, unsigned int flags)
{
    return cx_emu_call_stream_update_capture_dependencies(stream, dependencies, NULL, count, flags);
}
