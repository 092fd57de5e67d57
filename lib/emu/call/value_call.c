/* Calls by which streams write values to memory and wait for them, and nodes that do. */
#include "emu/graph/capture.h"
#include "emu/graph/exec.h"
#include "emu/graph/graph_node.h"
#include "emu/base/state.h"
#include "emu/schedule/stream.h"
#include "emu/schedule/value_op.h"

/* ---- streams ---- */

static cxu_result submit(cx_emu_stream *stream, cx_emu_values *values)
{
    const cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                                            .of.values = values};

    return cx_emu_node_params_submit(stream, &node_params);
}

static cxu_result put(const char *call, CUstream handle, unsigned int count,
                      const cxu_stream_mem_op *operations)
{
    cx_emu_stream *stream;
    cx_emu_values *values;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_stream_find(handle, &stream);
    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check(stream);
    if (result == CXU_SUCCESS)
        result = cx_emu_values_create(call, count, operations, &values);
    if (result == CXU_SUCCESS) {
        result = submit(stream, values);
        cx_emu_values_drop(values);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_stream_mem_op narrow(cxu_stream_mem_op_type type, CUdeviceptr address, uint32_t value,
                                unsigned int flags)
{
    return (cxu_stream_mem_op){
        .type = type, .address = address, .value.narrow = value, .flags = flags};
}

static cxu_stream_mem_op wide(cxu_stream_mem_op_type type, CUdeviceptr address, uint64_t value,
                              unsigned int flags)
{
    return (cxu_stream_mem_op){
        .type = type, .address = address, .value.wide = value, .flags = flags};
}

cxu_result cx_emu_call_stream_write_value_32(CUstream stream, CUdeviceptr address, uint32_t value,
                                             unsigned int flags)
{
    cxu_stream_mem_op one = narrow(CXU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);

    return put("cuStreamWriteValue32", stream, 1, &one);
}

cxu_result cx_emu_call_stream_write_value_64(CUstream stream, CUdeviceptr address, uint64_t value,
                                             unsigned int flags)
{
    cxu_stream_mem_op one = wide(CXU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);

    return put("cuStreamWriteValue64", stream, 1, &one);
}

cxu_result cx_emu_call_stream_wait_value_32(CUstream stream, CUdeviceptr address, uint32_t value,
                                            unsigned int flags)
{
    cxu_stream_mem_op one = narrow(CXU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);

    return put("cuStreamWaitValue32", stream, 1, &one);
}

cxu_result cx_emu_call_stream_wait_value_64(CUstream stream, CUdeviceptr address, uint64_t value,
                                            unsigned int flags)
{
    cxu_stream_mem_op one = wide(CXU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);

    return put("cuStreamWaitValue64", stream, 1, &one);
}

cxu_result cx_emu_call_stream_batch_mem_op(CUstream stream, unsigned int count,
                                           cxu_stream_mem_op *operations, unsigned int flags)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    return flags != 0 ? CXU_INVALID_VALUE : put("cuStreamBatchMemOp", stream, count, operations);
}

/* ---- nodes ---- */

static cxu_result take(const char *call, const cxu_batch_mem_op_node_params *params,
                       cx_emu_node_params *out_node_params)
{
    cxu_result result;

    *out_node_params = (cx_emu_node_params){.type = CXU_GRAPH_NODE_TYPE_BATCH_MEM_OP};
    if (params == NULL || params->flags != 0)
        return CXU_INVALID_VALUE;
    result = cx_emu_node_params_set_context(out_node_params, params->context);
    if (result != CXU_SUCCESS)
        return result;
    return cx_emu_values_create(call, params->count, params->operations,
                                &out_node_params->of.values);
}

cxu_result cx_emu_call_graph_add_batch_mem_op_node(CUgraphNode *out_node, CUgraph graph,
                                                   const CUgraphNode *dependencies, size_t count,
                                                   const cxu_batch_mem_op_node_params *params)
{
    cx_emu_node_params node_params;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_node == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = take("cuGraphAddBatchMemOpNode", params, &node_params);
    if (result == CXU_SUCCESS) {
        result = cx_emu_graph_node_add(out_node, graph, dependencies, count, &node_params);
        cx_emu_node_params_drop(&node_params);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* The array is the node's own, as the header says. */
cxu_result cx_emu_call_graph_batch_mem_op_node_get_params(CUgraphNode handle,
                                                          cxu_batch_mem_op_node_params *out_params)
{
    cx_emu_node *node;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_params == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_node_find(handle, &node);
    if (result == CXU_SUCCESS && node->node_params.type != CXU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        *out_params = (cxu_batch_mem_op_node_params){
            .context = cx_emu_context_handle(node->node_params.context),
            .count = node->node_params.of.values->count,
            .operations = node->node_params.of.values->operations};
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result set(const char *call, CUgraphExec exec, CUgraphNode node,
                      const cxu_batch_mem_op_node_params *params)
{
    cx_emu_node_params node_params;
    cxu_result result;

    cx_lock_enter(&cx_emu_lock);
    result = take(call, params, &node_params);
    if (result == CXU_SUCCESS) {
        result = exec != NULL ? cx_emu_exec_change(exec, node, &node_params)
                              : cx_emu_graph_node_set(node, &node_params);
        cx_emu_node_params_drop(&node_params);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result
cx_emu_call_graph_batch_mem_op_node_set_params(CUgraphNode node,
                                               const cxu_batch_mem_op_node_params *params)
{
    cxu_result result = cx_emu_enter();

    return result == CXU_SUCCESS ? set("cuGraphBatchMemOpNodeSetParams", NULL, node, params)
                                 : result;
}

cxu_result
cx_emu_call_graph_exec_batch_mem_op_node_set_params(CUgraphExec exec, CUgraphNode node,
                                                    const cxu_batch_mem_op_node_params *params)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    return exec != NULL ? set("cuGraphExecBatchMemOpNodeSetParams", exec, node, params)
                        : CXU_INVALID_VALUE;
}
