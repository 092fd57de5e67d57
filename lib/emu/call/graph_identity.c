/* Numbers of graphs and nodes, and what a node is. */
#include "emu/graph/exec.h"
#include "emu/base/state.h"
#include "emu/report/not_supported.h"

cxu_result cx_emu_call_graph_get_id(CUgraph handle, unsigned int *out_id)
{
    cx_emu_graph *graph;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_id == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_graph_find(handle, &graph);
    if (result == CXU_SUCCESS)
        *out_id = graph->number;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_exec_get_id(CUgraphExec handle, unsigned int *out_id)
{
    cx_emu_exec *exec;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_id == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_exec_find(handle, &exec);
    if (result == CXU_SUCCESS)
        *out_id = exec->number;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* A node, as cuGraphNodeGetLocalId, cuGraphNodeGetToolsId and the like describe it. */
typedef struct identity {
    unsigned int local_id;
    unsigned long long tools_id;
    CUgraph graph;
    cx_emu_node_params node_params;
} identity;

static cxu_result identify_node(CUgraphNode handle, const void *out, identity *out_identity)
{
    cx_emu_node *node;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_node_find(handle, &node);
    if (result == CXU_SUCCESS)
        *out_identity = (identity){node->local_id, node->id, cx_emu_graph_handle(node->graph),
                                   node->node_params};
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_node_get_local_id(CUgraphNode node, unsigned int *out_id)
{
    identity found;
    cxu_result result = identify_node(node, out_id, &found);

    if (result == CXU_SUCCESS)
        *out_id = found.local_id;
    return result;
}

cxu_result cx_emu_call_graph_node_get_tools_id(CUgraphNode node, unsigned long long *out_id)
{
    identity found;
    cxu_result result = identify_node(node, out_id, &found);

    if (result == CXU_SUCCESS)
        *out_id = found.tools_id;
    return result;
}

cxu_result cx_emu_call_graph_node_get_containing_graph(CUgraphNode node, CUgraph *out_graph)
{
    identity found;
    cxu_result result = identify_node(node, out_graph, &found);

    if (result == CXU_SUCCESS)
        *out_graph = found.graph;
    return result;
}

/* ---- parameters of any node ---- */

static CUcontext context_of(const cx_emu_node_params *node_params)
{
    return node_params->context != NULL ? cx_emu_context_handle(node_params->context) : NULL;
}

static cxu_result describe_condition(CUgraphNode handle, cxu_conditional_node_params *out_params)
{
    const cx_emu_condition *condition;
    cx_emu_node *node;
    cxu_result result;

    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_node_find(handle, &node);
    if (result == CXU_SUCCESS && node->node_params.type == CXU_GRAPH_NODE_TYPE_CONDITIONAL) {
        condition = node->node_params.of.condition;
        *out_params = (cxu_conditional_node_params){.handle = condition->handle->id,
                                                    .type = condition->type,
                                                    .size = condition->size,
                                                    .bodies = condition->names,
                                                    .context = context_of(&node->node_params)};
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* Asks again by the call for the type: what the parameters point to is the node's. */
static cxu_result describe_node(CUgraphNode node, const cx_emu_node_params *node_params,
                                cxu_graph_node_params *params)
{
    switch (node_params->type) {
    case CXU_GRAPH_NODE_TYPE_KERNEL:
        return cx_emu_call_graph_kernel_node_get_params(node, &params->of.kernel);
    case CXU_GRAPH_NODE_TYPE_MEMCPY:
        params->of.copy.params = node_params->of.copy;
        params->of.copy.context = context_of(node_params);
        return CXU_SUCCESS;
    case CXU_GRAPH_NODE_TYPE_MEMSET:
        params->of.fill.params = node_params->of.fill;
        params->of.fill.context = context_of(node_params);
        return CXU_SUCCESS;
    case CXU_GRAPH_NODE_TYPE_HOST:
        params->of.host = node_params->of.host;
        return CXU_SUCCESS;
    case CXU_GRAPH_NODE_TYPE_GRAPH:
        return cx_emu_call_graph_child_graph_node_get_graph(node, &params->of.child.graph);
    case CXU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CXU_GRAPH_NODE_TYPE_EVENT_RECORD:
        params->of.event = node_params->of.event;
        return CXU_SUCCESS;
    case CXU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return cx_emu_call_graph_mem_alloc_node_get_params(node, &params->of.alloc);
    case CXU_GRAPH_NODE_TYPE_MEM_FREE:
        return cx_emu_call_graph_mem_free_node_get_params(node, &params->of.freed);
    case CXU_GRAPH_NODE_TYPE_CONDITIONAL:
        return describe_condition(node, &params->of.condition);
    case CXU_GRAPH_NODE_TYPE_EMPTY:
        return CXU_SUCCESS;
    default:
        return cx_emu_not_supported("cuGraphNodeGetParams", "a node of this type");
    }
}

cxu_result cx_emu_call_graph_node_get_params(CUgraphNode node, cxu_graph_node_params *out_params)
{
    cxu_graph_node_params params = {0};
    identity found;
    cxu_result result = identify_node(node, out_params, &found);

    if (result != CXU_SUCCESS)
        return result;
    params.type = found.node_params.type;
    result = describe_node(node, &found.node_params, &params);
    if (result == CXU_SUCCESS)
        *out_params = params;
    return result;
}
