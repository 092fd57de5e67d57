/* Executable graphs as a whole. */
#include "emu/graph/capture.h"
#include "emu/graph/exec.h"
#include "emu/context/output.h"
#include "emu/base/state.h"
#include "emu/report/not_supported.h"
#include <stdio.h>

#define INSTANTIATE_FLAGS                                                                 \
    (CXU_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CXU_GRAPH_INSTANTIATE_FLAG_UPLOAD | \
     CXU_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CXU_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)

/* ---- instantiation ---- */

/* Launches from the device are not supported. */
static cxu_result check_flags(uint64_t flags, uint64_t valid)
{
    if (flags & ~valid || ((flags & CXU_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) &&
                           (flags & CXU_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)))
        return CXU_INVALID_VALUE;
    if (flags & CXU_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return cx_emu_not_supported("cuGraphInstantiate", "a launch from the device");
    return CXU_SUCCESS;
}

/* The memory of a graph has one place, so that one executable graph has it at a time. */
static cxu_result check_graph(const cx_emu_graph *graph)
{
    if (graph->capture != NULL || graph->moved)
        return cx_emu_refuse(CXU_INVALID_VALUE,
                             graph->capture != NULL ? "the graph is still being captured"
                                                    : "the graph was moved into another one");
    if (graph->owner != NULL && graph->owner->node_params.type == CXU_GRAPH_NODE_TYPE_CONDITIONAL)
        return cx_emu_not_supported("cuGraphInstantiate", "the body of a conditional node");
    if (cx_emu_graph_has_memory(graph) && cx_emu_exec_exists(graph))
        return cx_emu_not_supported("cuGraphInstantiate",
                                    "a second instance of a graph with memory");
    return CXU_SUCCESS;
}

static cxu_result instantiate_graph(CUgraphExec *out_exec, CUgraph handle, uint64_t flags,
                                    CUgraphNode *out_offender, bool *out_unused)
{
    cx_emu_graph *graph;
    cx_emu_node *offender = NULL;
    cx_emu_exec *exec;
    cxu_result result = cx_emu_graph_find(handle, &graph);

    if (result != CXU_SUCCESS)
        return result;
    result = check_graph(graph);
    if (result == CXU_SUCCESS)
        result = cx_emu_conditions_check(graph, out_unused, &offender);
    if (result == CXU_SUCCESS)
        result = cx_emu_exec_create(graph, flags, &exec, &offender);
    if (result == CXU_SUCCESS)
        *out_exec = cx_emu_exec_handle(exec);
    else if (offender != NULL)
        *out_offender = cx_emu_node_handle(offender);
    return result;
}

cxu_result cx_emu_call_graph_instantiate_with_flags(CUgraphExec *out_exec, CUgraph graph,
                                                    unsigned long long flags)
{
    CUgraphNode offender;
    bool unused;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_exec == NULL)
        return CXU_INVALID_VALUE;
    result = check_flags(flags, INSTANTIATE_FLAGS & ~CXU_GRAPH_INSTANTIATE_FLAG_UPLOAD);
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = instantiate_graph(out_exec, graph, flags, &offender, &unused);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* The upload itself needs no work. */
static cxu_result instantiate_and_upload(CUgraphExec *out_exec, CUgraph graph,
                                         cxu_graph_instantiate_params *params, bool *out_unused)
{
    cx_emu_stream *stream;
    cxu_result result = CXU_SUCCESS;

    if (params->flags & CXU_GRAPH_INSTANTIATE_FLAG_UPLOAD)
        result = cx_emu_stream_find(params->upload_stream, &stream);
    if (result != CXU_SUCCESS)
        return result;
    return instantiate_graph(out_exec, graph,
                             params->flags & ~(uint64_t)CXU_GRAPH_INSTANTIATE_FLAG_UPLOAD,
                             &params->out_error_node, out_unused);
}

cxu_result cx_emu_call_graph_instantiate_with_params(CUgraphExec *out_exec, CUgraph graph,
                                                     cxu_graph_instantiate_params *params)
{
    bool unused = false;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_exec == NULL || params == NULL)
        return CXU_INVALID_VALUE;
    params->out_error_node = NULL;
    params->out_result = CXU_GRAPH_INSTANTIATE_ERROR;
    result = check_flags(params->flags, INSTANTIATE_FLAGS);
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = instantiate_and_upload(out_exec, graph, params, &unused);
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        params->out_result = CXU_GRAPH_INSTANTIATE_SUCCESS;
    else if (unused)
        params->out_result = CXU_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
    else if (params->out_error_node != NULL)
        params->out_result = CXU_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    return result;
}

cxu_result cx_emu_call_graph_instantiate_v2(CUgraphExec *out_exec, CUgraph graph,
                                            CUgraphNode *out_error_node, char *log,
                                            size_t log_bytes)
{
    cxu_graph_instantiate_params params = {0};
    cxu_result result = cx_emu_call_graph_instantiate_with_params(out_exec, graph, &params);

    if (result == CXU_NOT_INITIALIZED || result == CXU_DEINITIALIZED)
        return result;
    if (out_error_node != NULL)
        *out_error_node = params.out_error_node;
    if (log != NULL && log_bytes > 0)
        snprintf(log, log_bytes, "%s",
                 params.out_error_node != NULL ? "the graph has a cycle" : "");
    return result;
}

cxu_result cx_emu_call_graph_instantiate_v1(CUgraphExec *out_exec, CUgraph graph,
                                            CUgraphNode *out_error_node, char *log,
                                            size_t log_bytes)
{
    return cx_emu_call_graph_instantiate_v2(out_exec, graph, out_error_node, log, log_bytes);
}

cxu_result cx_emu_call_graph_exec_get_flags(CUgraphExec handle, uint64_t *out_flags)
{
    cx_emu_exec *exec;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_flags == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_exec_find(handle, &exec);
    if (result == CXU_SUCCESS)
        *out_flags = exec->flags;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_exec_destroy(CUgraphExec handle)
{
    cx_emu_exec *exec;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_exec_find(handle, &exec);
    if (result == CXU_SUCCESS)
        cx_emu_exec_destroy(exec);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- launches ---- */

static cxu_result find_both(CUgraphExec exec_handle, CUstream stream_handle, cx_emu_exec **out_exec,
                            cx_emu_stream **out_stream)
{
    cxu_result result = cx_emu_exec_find(exec_handle, out_exec);

    if (result == CXU_SUCCESS)
        result = cx_emu_stream_find(stream_handle, out_stream);
    return result == CXU_SUCCESS ? cx_emu_capture_check(*out_stream) : result;
}

cxu_result cx_emu_call_graph_launch(CUgraphExec exec_handle, CUstream stream_handle)
{
    cx_emu_exec *exec;
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_emu_output_show();
    cx_lock_enter(&cx_emu_lock);
    result = find_both(exec_handle, stream_handle, &exec, &stream);
    if (result == CXU_SUCCESS)
        result = stream->branch != NULL ? cx_emu_exec_capture(exec, stream)
                                        : cx_emu_exec_launch(exec, stream);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_upload(CUgraphExec exec_handle, CUstream stream_handle)
{
    cx_emu_exec *exec;
    cx_emu_stream *stream;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_both(exec_handle, stream_handle, &exec, &stream);
    if (result == CXU_SUCCESS && stream->branch != NULL)
        result = cx_emu_capture_refuse(stream);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- updates ---- */

static cxu_result update_exec(CUgraphExec exec_handle, CUgraph graph_handle,
                              cxu_graph_exec_update_result_info *out_info)
{
    const cx_emu_node *node, *from;
    cx_emu_exec *exec;
    cx_emu_graph *graph;
    cxu_result result = cx_emu_exec_find(exec_handle, &exec);

    if (result == CXU_SUCCESS)
        result = cx_emu_graph_find(graph_handle, &graph);
    if (result == CXU_SUCCESS && graph->moved)
        result = CXU_INVALID_VALUE;
    if (result != CXU_SUCCESS)
        return result;
    out_info->result = cx_emu_graph_compare(exec->graph, graph, &node, &from);
    out_info->error_node = node != NULL ? cx_emu_node_handle(node) : NULL;
    out_info->error_from_node = from != NULL ? cx_emu_node_handle(from) : NULL;
    if (out_info->result != CXU_GRAPH_EXEC_UPDATE_SUCCESS)
        return CXU_GRAPH_EXEC_UPDATE_FAILURE;
    cx_emu_graph_assign(exec->graph, graph);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_graph_exec_update(CUgraphExec exec, CUgraph graph,
                                         cxu_graph_exec_update_result_info *out_info)
{
    cxu_graph_exec_update_result_info info = {.result = CXU_GRAPH_EXEC_UPDATE_ERROR};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_info == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = update_exec(exec, graph, &info);
    cx_lock_leave(&cx_emu_lock);
    *out_info = info;
    return result;
}

cxu_result cx_emu_call_graph_exec_update_v1(CUgraphExec exec, CUgraph graph,
                                            CUgraphNode *out_error_node,
                                            cxu_graph_exec_update_result *out_result)
{
    cxu_graph_exec_update_result_info info;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_result == NULL)
        return CXU_INVALID_VALUE;
    result = cx_emu_call_graph_exec_update(exec, graph, &info);
    *out_result = info.result;
    if (out_error_node != NULL)
        *out_error_node = info.error_node;
    return result;
}
