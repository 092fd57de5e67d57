/* Nodes: adding them, and their parameters. */
#include "emu/graph/graph_node.h"
#include "emu/schedule/event.h"
#include "emu/base/state.h"
#include "emu/report/not_supported.h"

/* ---- adding ---- */

cxu_result cx_emu_graph_node_add(CUgraphNode *out_node, CUgraph handle,
                                 const CUgraphNode *dependencies, size_t count,
                                 const cx_emu_node_params *node_params)
{
    cx_emu_graph *graph;
    cx_emu_nodes before;
    cx_emu_node *node;
    cxu_result result = cx_emu_graph_find(handle, &graph);

    if (result == CXU_SUCCESS)
        result = cx_emu_node_params_check(node_params);
    if (result == CXU_SUCCESS)
        result = cx_emu_nodes_find(graph, dependencies, count, &before);
    if (result != CXU_SUCCESS)
        return result;
    node = cx_emu_graph_add(graph, node_params, &before);
    cx_emu_nodes_free(&before);
    if (node == NULL)
        return CXU_OUT_OF_MEMORY;
    *out_node = cx_emu_node_handle(node);
    return CXU_SUCCESS;
}

static cxu_result add_node(CUgraphNode *out_node, CUgraph graph, const CUgraphNode *dependencies,
                           size_t count, const cx_emu_node_params *node_params)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_node == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_graph_node_add(out_node, graph, dependencies, count, node_params);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* Adds a node for an operation in a context. */
static cxu_result add_in(CUcontext context, CUgraphNode *out_node, CUgraph graph,
                         const CUgraphNode *dependencies, size_t count,
                         cx_emu_node_params *node_params)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_node == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_node_params_set_context(node_params, context);
    if (result == CXU_SUCCESS)
        result = cx_emu_graph_node_add(out_node, graph, dependencies, count, node_params);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_add_memcpy_node(CUgraphNode *out_node, CUgraph graph,
                                             const CUgraphNode *dependencies, size_t count,
                                             const cxu_memcpy_3d *params, CUcontext context)
{
    cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_MEMCPY};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (params == NULL)
        return CXU_INVALID_VALUE;
    node_params.of.copy = *params;
    return add_in(context, out_node, graph, dependencies, count, &node_params);
}

cxu_result cx_emu_call_graph_add_memset_node(CUgraphNode *out_node, CUgraph graph,
                                             const CUgraphNode *dependencies, size_t count,
                                             const cxu_memset_node_params *params,
                                             CUcontext context)
{
    cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_MEMSET};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (params == NULL)
        return CXU_INVALID_VALUE;
    node_params.of.fill = *params;
    return add_in(context, out_node, graph, dependencies, count, &node_params);
}

cxu_result cx_emu_call_graph_add_host_node(CUgraphNode *out_node, CUgraph graph,
                                           const CUgraphNode *dependencies, size_t count,
                                           const cxu_host_node_params *params)
{
    cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_HOST};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (params == NULL)
        return CXU_INVALID_VALUE;
    node_params.of.host = *params;
    return add_node(out_node, graph, dependencies, count, &node_params);
}

cxu_result cx_emu_call_graph_add_empty_node(CUgraphNode *out_node, CUgraph graph,
                                            const CUgraphNode *dependencies, size_t count)
{
    const cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_EMPTY};

    return add_node(out_node, graph, dependencies, count, &node_params);
}

static cxu_result add_event(CUgraphNode *out_node, CUgraph graph, const CUgraphNode *dependencies,
                            size_t count, const cx_emu_node_params *node_params)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    return node_params->of.event != NULL
               ? add_node(out_node, graph, dependencies, count, node_params)
               : CXU_INVALID_VALUE;
}

cxu_result cx_emu_call_graph_add_event_record_node(CUgraphNode *out_node, CUgraph graph,
                                                   const CUgraphNode *dependencies, size_t count,
                                                   CUevent event)
{
    const cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                            .of.event = event};

    return add_event(out_node, graph, dependencies, count, &node_params);
}

cxu_result cx_emu_call_graph_add_event_wait_node(CUgraphNode *out_node, CUgraph graph,
                                                 const CUgraphNode *dependencies, size_t count,
                                                 CUevent event)
{
    const cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                            .of.event = event};

    return add_event(out_node, graph, dependencies, count, &node_params);
}

static bool lies_in(const cx_emu_graph *graph, const cx_emu_graph *other)
{
    for (; graph != NULL; graph = graph->owner != NULL ? graph->owner->graph : NULL)
        if (graph == other)
            return true;
    return false;
}

static bool may_move(const cx_emu_graph *child, const cx_emu_graph *into)
{
    return child->owner == NULL && child->capture == NULL && !lies_in(into, child);
}

static cxu_result check_child(const cx_emu_graph *child, CUgraph into_handle, bool move)
{
    cx_emu_graph *into;
    cxu_result result = cx_emu_graph_find(into_handle, &into);

    if (result != CXU_SUCCESS)
        return result;
    if (child->moved || (move && !may_move(child, into)))
        return CXU_INVALID_VALUE;
    if (!move && !cx_emu_graph_clonable(child))
        return cx_emu_not_supported("cuGraphAddChildGraphNode",
                                    "a copy of a graph with memory or conditions");
    return cx_emu_graph_has_room_for(into, child)
               ? CXU_SUCCESS
               : cx_emu_not_supported("cuGraphAddChildGraphNode", "a graph so deep in others");
}

cxu_result cx_emu_graph_node_add_child(CUgraphNode *out_node, CUgraph graph,
                                       const CUgraphNode *dependencies, size_t count,
                                       CUgraph child_handle, bool move)
{
    cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_GRAPH};
    cx_emu_graph *child;
    cxu_result result = cx_emu_graph_find(child_handle, &child);

    if (result == CXU_SUCCESS)
        result = check_child(child, graph, move);
    if (result != CXU_SUCCESS)
        return result;
    node_params.of.child = move ? child : cx_emu_graph_clone(child, true);
    if (node_params.of.child == NULL)
        return CXU_OUT_OF_MEMORY;
    result = cx_emu_graph_node_add(out_node, graph, dependencies, count, &node_params);
    if (result == CXU_SUCCESS)
        node_params.of.child->moved = move;
    else if (!move)
        cx_emu_graph_destroy(node_params.of.child);
    return result;
}

cxu_result cx_emu_call_graph_add_child_graph_node(CUgraphNode *out_node, CUgraph graph,
                                                  const CUgraphNode *dependencies, size_t count,
                                                  CUgraph child)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_node == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_graph_node_add_child(out_node, graph, dependencies, count, child, false);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- parameters ---- */

static cxu_result get_params(CUgraphNode handle, cxu_graph_node_type type, const void *out,
                             cx_emu_node_params *out_node_params)
{
    cx_emu_node *node;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_node_find_typed(handle, type, &node);
    if (result == CXU_SUCCESS)
        *out_node_params = node->node_params;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_graph_node_set(CUgraphNode handle, const cx_emu_node_params *node_params)
{
    cx_emu_node_params changed = *node_params;
    cx_emu_node *node;
    cxu_result result = cx_emu_node_find_typed(handle, node_params->type, &node);

    if (result != CXU_SUCCESS)
        return result;
    if (changed.context == NULL) {
        changed.context = node->node_params.context;
        changed.context_id = node->node_params.context_id;
    }
    result = cx_emu_node_params_check(&changed);
    if (result == CXU_SUCCESS)
        cx_emu_node_set(node, &changed);
    return result;
}

static cxu_result set_params(CUgraphNode handle, const cx_emu_node_params *node_params)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_graph_node_set(handle, node_params);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_memcpy_node_get_params(CUgraphNode node, cxu_memcpy_3d *out_params)
{
    cx_emu_node_params found;
    cxu_result result = get_params(node, CXU_GRAPH_NODE_TYPE_MEMCPY, out_params, &found);

    if (result == CXU_SUCCESS)
        *out_params = found.of.copy;
    return result;
}

cxu_result cx_emu_call_graph_memcpy_node_set_params(CUgraphNode node, const cxu_memcpy_3d *params)
{
    cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_MEMCPY};

    if (params != NULL)
        node_params.of.copy = *params;
    return set_params(node, &node_params);
}

cxu_result cx_emu_call_graph_memset_node_get_params(CUgraphNode node,
                                                    cxu_memset_node_params *out_params)
{
    cx_emu_node_params found;
    cxu_result result = get_params(node, CXU_GRAPH_NODE_TYPE_MEMSET, out_params, &found);

    if (result == CXU_SUCCESS)
        *out_params = found.of.fill;
    return result;
}

cxu_result cx_emu_call_graph_memset_node_set_params(CUgraphNode node,
                                                    const cxu_memset_node_params *params)
{
    cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_MEMSET};

    if (params != NULL)
        node_params.of.fill = *params;
    return set_params(node, &node_params);
}

cxu_result cx_emu_call_graph_host_node_get_params(CUgraphNode node,
                                                  cxu_host_node_params *out_params)
{
    cx_emu_node_params found;
    cxu_result result = get_params(node, CXU_GRAPH_NODE_TYPE_HOST, out_params, &found);

    if (result == CXU_SUCCESS)
        *out_params = found.of.host;
    return result;
}

cxu_result cx_emu_call_graph_host_node_set_params(CUgraphNode node,
                                                  const cxu_host_node_params *params)
{
    cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_HOST};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (params == NULL || params->function == NULL)
        return CXU_INVALID_VALUE;
    node_params.of.host = *params;
    return set_params(node, &node_params);
}

cxu_result cx_emu_call_graph_child_graph_node_get_graph(CUgraphNode handle, CUgraph *out_graph)
{
    cx_emu_node *node;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_graph == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_node_find_typed(handle, CXU_GRAPH_NODE_TYPE_GRAPH, &node);
    if (result == CXU_SUCCESS)
        *out_graph = cx_emu_graph_handle(node->node_params.of.child);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static cxu_result get_event(CUgraphNode node, cxu_graph_node_type type, CUevent *out_event)
{
    cx_emu_node_params found;
    cxu_result result = get_params(node, type, out_event, &found);

    if (result == CXU_SUCCESS)
        *out_event = found.of.event;
    return result;
}

cxu_result cx_emu_call_graph_event_record_node_get_event(CUgraphNode node, CUevent *out_event)
{
    return get_event(node, CXU_GRAPH_NODE_TYPE_EVENT_RECORD, out_event);
}

cxu_result cx_emu_call_graph_event_record_node_set_event(CUgraphNode node, CUevent event)
{
    return set_params(
        node, &(cx_emu_node_params){.type = CXU_GRAPH_NODE_TYPE_EVENT_RECORD, .of.event = event});
}

cxu_result cx_emu_call_graph_event_wait_node_get_event(CUgraphNode node, CUevent *out_event)
{
    return get_event(node, CXU_GRAPH_NODE_TYPE_WAIT_EVENT, out_event);
}

cxu_result cx_emu_call_graph_event_wait_node_set_event(CUgraphNode node, CUevent event)
{
    return set_params(
        node, &(cx_emu_node_params){.type = CXU_GRAPH_NODE_TYPE_WAIT_EVENT, .of.event = event});
}
