/* The nodes of executable graphs: changes for later launches. */
#include "emu/graph/exec.h"
#include "emu/base/state.h"

/* Finds the node of the executable graph that was made from a node of the user's. */
static cxu_result find_exec_node(CUgraphExec exec_handle, CUgraphNode node_handle,
                                 cx_emu_node **out_node)
{
    cx_emu_exec *exec;
    cx_emu_node *source;
    cxu_result result = cx_emu_exec_find(exec_handle, &exec);

    if (result == CXU_SUCCESS)
        result = cx_emu_node_find(node_handle, &source);
    if (result != CXU_SUCCESS)
        return result;
    *out_node = cx_emu_graph_find_copy(exec->graph, source);
    return *out_node != NULL ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

static bool is_flat(const cxu_memcpy_3d *copy)
{
    return copy->height <= 1 && copy->depth <= 1;
}

/* Copies of several rows can be changed neither from nor to. */
static bool may_become(const cx_emu_node_params *before, const cx_emu_node_params *after)
{
    if (before->type != after->type || !cx_emu_node_params_compatible(before, after))
        return false;
    return before->type != CXU_GRAPH_NODE_TYPE_MEMCPY ||
           (is_flat(&before->of.copy) && is_flat(&after->of.copy));
}

cxu_result cx_emu_exec_change(CUgraphExec exec, CUgraphNode node_handle,
                              const cx_emu_node_params *node_params)
{
    cx_emu_node *node;
    cxu_result result = find_exec_node(exec, node_handle, &node);

    if (result == CXU_SUCCESS)
        result = cx_emu_node_params_check(node_params);
    if (result == CXU_SUCCESS && !may_become(&node->node_params, node_params))
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        cx_emu_node_set(node, node_params);
    return result;
}

static cxu_result set_exec_node(CUgraphExec exec, CUgraphNode node,
                                const cx_emu_node_params *node_params)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_exec_change(exec, node, node_params);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result set_in(CUcontext context, CUgraphExec exec, CUgraphNode node,
                         cx_emu_node_params *node_params)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_node_params_set_context(node_params, context);
    if (result == CXU_SUCCESS)
        result = cx_emu_exec_change(exec, node, node_params);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_exec_memcpy_node_set_params(CUgraphExec exec, CUgraphNode node,
                                                         const cxu_memcpy_3d *params,
                                                         CUcontext context)
{
    cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_MEMCPY};

    if (params != NULL)
        node_params.of.copy = *params;
    return set_in(context, exec, node, &node_params);
}

cxu_result cx_emu_call_graph_exec_memset_node_set_params(CUgraphExec exec, CUgraphNode node,
                                                         const cxu_memset_node_params *params,
                                                         CUcontext context)
{
    cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_MEMSET};

    if (params != NULL)
        node_params.of.fill = *params;
    return set_in(context, exec, node, &node_params);
}

cxu_result cx_emu_call_graph_exec_host_node_set_params(CUgraphExec exec, CUgraphNode node,
                                                       const cxu_host_node_params *params)
{
    cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_HOST};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (params == NULL || params->function == NULL)
        return CXU_INVALID_VALUE;
    node_params.of.host = *params;
    return set_exec_node(exec, node, &node_params);
}

cxu_result cx_emu_call_graph_exec_event_record_node_set_event(CUgraphExec exec, CUgraphNode node,
                                                              CUevent event)
{
    return set_exec_node(
        exec, node,
        &(cx_emu_node_params){.type = CXU_GRAPH_NODE_TYPE_EVENT_RECORD, .of.event = event});
}

cxu_result cx_emu_call_graph_exec_event_wait_node_set_event(CUgraphExec exec, CUgraphNode node,
                                                            CUevent event)
{
    return set_exec_node(
        exec, node,
        &(cx_emu_node_params){.type = CXU_GRAPH_NODE_TYPE_WAIT_EVENT, .of.event = event});
}

cxu_result cx_emu_exec_change_child(CUgraphExec exec, CUgraphNode node_handle, CUgraph child_handle)
{
    const cx_emu_node *offender, *from;
    cx_emu_graph *child;
    cx_emu_node *node;
    cxu_result result = find_exec_node(exec, node_handle, &node);

    if (result == CXU_SUCCESS)
        result = cx_emu_graph_find(child_handle, &child);
    if (result != CXU_SUCCESS)
        return result;
    if (node->node_params.type != CXU_GRAPH_NODE_TYPE_GRAPH)
        return CXU_INVALID_VALUE;
    if (cx_emu_graph_compare(node->node_params.of.child, child, &offender, &from) !=
        CXU_GRAPH_EXEC_UPDATE_SUCCESS)
        return CXU_GRAPH_EXEC_UPDATE_FAILURE;
    cx_emu_graph_assign(node->node_params.of.child, child);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_graph_exec_child_graph_node_set_params(CUgraphExec exec, CUgraphNode node,
                                                              CUgraph child)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_exec_change_child(exec, node, child);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- disabled nodes: kernels, copies and fills only ---- */

static cxu_result find_switchable(CUgraphExec exec, CUgraphNode handle, cx_emu_node **out_node)
{
    cxu_result result = find_exec_node(exec, handle, out_node);

    if (result != CXU_SUCCESS)
        return result;
    switch ((*out_node)->node_params.type) {
    case CXU_GRAPH_NODE_TYPE_KERNEL:
    case CXU_GRAPH_NODE_TYPE_MEMCPY:
    case CXU_GRAPH_NODE_TYPE_MEMSET:
        return CXU_SUCCESS;
    default:
        return CXU_INVALID_VALUE;
    }
}

cxu_result cx_emu_call_graph_node_set_enabled(CUgraphExec exec, CUgraphNode handle,
                                              unsigned int enabled)
{
    cx_emu_node *node;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_switchable(exec, handle, &node);
    if (result == CXU_SUCCESS) {
        node->disabled = enabled == 0;
        cx_emu_changes++;
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_node_get_enabled(CUgraphExec exec, CUgraphNode handle,
                                              unsigned int *out_enabled)
{
    cx_emu_node *node;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_enabled == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = find_switchable(exec, handle, &node);
    if (result == CXU_SUCCESS)
        *out_enabled = !node->disabled;
    cx_lock_leave(&cx_emu_lock);
    return result;
}
