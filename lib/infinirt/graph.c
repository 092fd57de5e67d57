/* Capture, graphs, executable graphs. Both kinds are graphs of ctxrt's: an executable one is an
 * instantiated clone. */
#include "infinirt/address.h"
#include "infinirt/stream.h"
#include <ctxrt/graph.h>
#include <string.h>

/* The executable graphs, by handle; each handle maps to itself. */
static cx_addresses executables = CX_ADDRESSES_INIT;

static const ctxrt_capture_mode modes[] = {
    [INFINIRT_STREAM_CAPTURE_MODE_GLOBAL] = CTXRT_CAPTURE_GLOBAL,
    [INFINIRT_STREAM_CAPTURE_MODE_THREAD_LOCAL] = CTXRT_CAPTURE_THREAD_LOCAL,
    [INFINIRT_STREAM_CAPTURE_MODE_RELAXED] = CTXRT_CAPTURE_RELAXED,
};
enum { MODES = sizeof modes / sizeof modes[0] };

infiniStatus_t infinirtStreamBeginCapture(infinirtStream_t stream, infinirtStreamCaptureMode_t mode)
{
    ctxrt_stream *target;
    if (stream == NULL)
        return INFINI_STATUS_NULL_POINTER;
    if ((unsigned int)mode >= MODES)
        return INFINI_STATUS_BAD_PARAM;
    ctxrt_status status = cx_stream_begin(stream, &target);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_stream_capture_begin(target, modes[mode]);
    return cx_infini_status(status);
}

infiniStatus_t infinirtStreamEndCapture(infinirtStream_t stream, infinirtGraph_t *graph_ptr)
{
    ctxrt_stream *target;
    ctxrt_graph *graph;
    if (stream == NULL || graph_ptr == NULL)
        return INFINI_STATUS_NULL_POINTER;
    ctxrt_status status = cx_stream_begin(stream, &target);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_stream_capture_end(target, &graph);
    if (status == CTXRT_SUCCESS)
        *graph_ptr = graph;
    return cx_infini_status(status);
}

infiniStatus_t infinirtGraphDestroy(infinirtGraph_t graph)
{
    infiniStatus_t answer;
    if (graph == NULL)
        return INFINI_STATUS_NULL_POINTER;
    if (!cx_release_begin(&answer))
        return answer;
    if (cx_address_find(&executables, graph) != NULL)
        return INFINI_STATUS_BAD_PARAM;
    return cx_infini_status(ctxrt_graph_release(graph));
}

/* ---- executable graphs ---- */

static infiniStatus_t instantiate_graph(ctxrt_graph *graph, infinirtGraphExec_t *out_exec)
{
    ctxrt_graph *clone;
    ctxrt_status status = ctxrt_graph_clone(graph, &clone);
    if (status != CTXRT_SUCCESS)
        return cx_infini_status(status);
    if (!cx_address_put(&executables, clone, clone)) {
        status = ctxrt_graph_release(clone);
        return INFINI_STATUS_INTERNAL_ERROR;
    }
    *out_exec = clone;
    return INFINI_STATUS_SUCCESS;
}

static void explain_failure(infinirtGraphNode_t *out_node, char *log, size_t log_bytes)
{
    if (out_node != NULL)
        *out_node = NULL;
    if (log == NULL || log_bytes == 0)
        return;
    strncpy(log, ctxrt_last_error()->message, log_bytes - 1);
    log[log_bytes - 1] = '\0';
}

infiniStatus_t infinirtGraphInstantiate(infinirtGraphExec_t *graph_exec_ptr, infinirtGraph_t graph,
                                        infinirtGraphNode_t *node_ptr, char *log_buffer,
                                        size_t buffer_size)
{
    if (graph_exec_ptr == NULL || graph == NULL)
        return INFINI_STATUS_NULL_POINTER;
    ctxrt_status status = cx_runtime_begin();
    if (status != CTXRT_SUCCESS)
        return cx_infini_status(status);
    if (cx_address_find(&executables, graph) != NULL)
        return INFINI_STATUS_BAD_PARAM;
    infiniStatus_t result = instantiate_graph(graph, graph_exec_ptr);
    if (result != INFINI_STATUS_SUCCESS)
        explain_failure(node_ptr, log_buffer, buffer_size);
    return result;
}

infiniStatus_t infinirtGraphExecDestroy(infinirtGraphExec_t graph_exec)
{
    infiniStatus_t answer;
    if (graph_exec == NULL)
        return INFINI_STATUS_NULL_POINTER;
    if (!cx_release_begin(&answer))
        return answer;
    ctxrt_graph *taken = cx_address_take(&executables, graph_exec);
    return taken == NULL ? INFINI_STATUS_BAD_PARAM : cx_infini_status(ctxrt_graph_release(taken));
}

infiniStatus_t infinirtGraphLuanch(infinirtGraphExec_t graph_exec, infinirtStream_t stream)
{
    ctxrt_stream *target;
    if (graph_exec == NULL)
        return INFINI_STATUS_NULL_POINTER;
    ctxrt_status status = cx_stream_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return cx_infini_status(status);
    ctxrt_graph *executable = cx_address_find(&executables, graph_exec);
    return executable == NULL ? INFINI_STATUS_BAD_PARAM
                              : cx_infini_status(ctxrt_graph_launch(executable, target));
}

/* ---- groups of captured work, of devices that have no driver here ---- */

infiniStatus_t infinirtGraphTaskGroupBegin(infinirtStream_t stream)
{
    (void)stream;
    return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
}

infiniStatus_t infinirtGraphTaskGroupEnd(infinirtStream_t stream,
                                         infinirtGraphTaskGroup_t *group_ptr)
{
    (void)stream, (void)group_ptr;
    return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
}

infiniStatus_t infinirtGraphTaskUpdateBegin(infinirtStream_t stream, infinirtGraphTaskGroup_t group)
{
    (void)stream, (void)group;
    return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
}

infiniStatus_t infinirtGraphTaskUpdateEnd(infinirtStream_t stream)
{
    (void)stream;
    return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
}
