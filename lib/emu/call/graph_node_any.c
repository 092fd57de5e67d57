/* Nodes of any type, described by one structure. */
#include "emu/graph/exec.h"
#include "emu/graph/graph_node.h"
#include "emu/base/state.h"
#include "emu/report/not_supported.h"

#define LAST_TYPE 13 /* conditional nodes, of CUDA 13.0 */

static bool is_zero(const unsigned char *bytes, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

static size_t used_bytes(cxu_graph_node_type type)
{
    static const cxu_graph_node_params *const params;

    switch (type) {
    case CXU_GRAPH_NODE_TYPE_KERNEL:
        return sizeof params->of.kernel;
    case CXU_GRAPH_NODE_TYPE_MEMCPY:
        return sizeof params->of.copy;
    case CXU_GRAPH_NODE_TYPE_MEMSET:
        return sizeof params->of.fill;
    case CXU_GRAPH_NODE_TYPE_HOST:
        return sizeof params->of.host;
    case CXU_GRAPH_NODE_TYPE_GRAPH:
        return sizeof params->of.child;
    case CXU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CXU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return sizeof params->of.event;
    case CXU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return sizeof params->of.alloc;
    case CXU_GRAPH_NODE_TYPE_MEM_FREE:
        return sizeof params->of.freed;
    case CXU_GRAPH_NODE_TYPE_CONDITIONAL:
        return sizeof params->of.condition;
    default:
        return 0;
    }
}

static bool well_formed(const cxu_graph_node_params *params)
{
    return is_zero((const void *)params->reserved, 0, sizeof params->reserved) &&
           is_zero((const void *)params->of.words, used_bytes(params->type), sizeof params->of) &&
           params->reserved_tail == 0;
}

static cxu_result read_params(const cxu_graph_node_params *params,
                              cx_emu_node_params *out_node_params)
{
    *out_node_params = (cx_emu_node_params){.type = params->type};
    switch (params->type) {
    case CXU_GRAPH_NODE_TYPE_KERNEL:
        return cx_emu_graph_kernel_take(&params->of.kernel, out_node_params);
    case CXU_GRAPH_NODE_TYPE_MEMCPY:
        if (params->of.copy.flags != 0 || params->of.copy.reserved != 0)
            return CXU_INVALID_VALUE;
        out_node_params->of.copy = params->of.copy.params;
        return cx_emu_node_params_set_context(out_node_params, params->of.copy.context);
    case CXU_GRAPH_NODE_TYPE_MEMSET:
        out_node_params->of.fill = params->of.fill.params;
        return cx_emu_node_params_set_context(out_node_params, params->of.fill.context);
    case CXU_GRAPH_NODE_TYPE_HOST:
        out_node_params->of.host = params->of.host;
        return CXU_SUCCESS;
    case CXU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CXU_GRAPH_NODE_TYPE_EVENT_RECORD:
        out_node_params->of.event = params->of.event;
        return CXU_SUCCESS;
    default:
        return CXU_SUCCESS;
    }
}

/* The types that are only added. */
static bool is_fixed(cxu_graph_node_type type)
{
    return type == CXU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CXU_GRAPH_NODE_TYPE_MEM_FREE ||
           type == CXU_GRAPH_NODE_TYPE_CONDITIONAL;
}

/* Checks for the types that can be described. */
static cxu_result check_params(const char *call, const cxu_graph_node_params *params, bool adding)
{
    if (params == NULL || (unsigned int)params->type > LAST_TYPE)
        return CXU_INVALID_VALUE;
    if (params->type > CXU_GRAPH_NODE_TYPE_EVENT_RECORD && !(adding && is_fixed(params->type)))
        return cx_emu_not_supported(call, "a node of this type");
    return well_formed(params) ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

/* ---- adding ---- */

static cxu_result add_any(CUgraphNode *out_node, CUgraph graph, const CUgraphNode *dependencies,
                          size_t count, const cxu_graph_node_params *params)
{
    cx_emu_node_params node_params;
    cxu_result result = read_params(params, &node_params);

    if (result != CXU_SUCCESS)
        return result;
    result = cx_emu_graph_node_add(out_node, graph, dependencies, count, &node_params);
    cx_emu_node_params_drop(&node_params);
    return result;
}

static cxu_result add_child(CUgraphNode *out_node, CUgraph graph, const CUgraphNode *dependencies,
                            size_t count, cxu_graph_node_params *params)
{
    int ownership = params->of.child.ownership;

    if (ownership != CXU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE &&
        ownership != CXU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE)
        return CXU_INVALID_VALUE;
    return cx_emu_graph_node_add_child(out_node, graph, dependencies, count, params->of.child.graph,
                                       ownership != 0);
}

static cxu_result make_condition(CUgraph graph_handle, const cxu_conditional_node_params *params,
                                 cx_emu_node_params *out_node_params)
{
    cx_emu_graph *graph;
    cxu_result result = cx_emu_graph_find(graph_handle, &graph);

    *out_node_params = (cx_emu_node_params){.type = CXU_GRAPH_NODE_TYPE_CONDITIONAL};
    if (result == CXU_SUCCESS)
        result = cx_emu_node_params_set_context(out_node_params, params->context);
    if (result == CXU_SUCCESS)
        result = cx_emu_condition_create(graph, params, &out_node_params->of.condition);
    if (result == CXU_SUCCESS &&
        !cx_emu_graph_has_room_for(graph, out_node_params->of.condition->bodies[0])) {
        cx_emu_condition_destroy(out_node_params->of.condition);
        result = cx_emu_not_supported("cuGraphAddNode", "a condition so deep in others");
    }
    return result;
}

static cxu_result add_condition(CUgraphNode *out_node, CUgraph graph,
                                const CUgraphNode *dependencies, size_t count,
                                cxu_conditional_node_params *params)
{
    cx_emu_node_params node_params;
    cxu_result result = make_condition(graph, params, &node_params);

    if (result != CXU_SUCCESS)
        return result;
    result = cx_emu_graph_node_add(out_node, graph, dependencies, count, &node_params);
    if (result != CXU_SUCCESS) {
        cx_emu_condition_destroy(node_params.of.condition);
        return result;
    }
    node_params.of.condition->handle->decides = true;
    params->bodies = node_params.of.condition->names;
    return CXU_SUCCESS;
}

static cxu_result add_described(CUgraphNode *out_node, CUgraph graph,
                                const CUgraphNode *dependencies, size_t count,
                                cxu_graph_node_params *params)
{
    switch (params->type) {
    case CXU_GRAPH_NODE_TYPE_GRAPH:
        return add_child(out_node, graph, dependencies, count, params);
    case CXU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return cx_emu_graph_node_add_alloc(out_node, graph, dependencies, count,
                                           &params->of.alloc);
    case CXU_GRAPH_NODE_TYPE_MEM_FREE:
        return cx_emu_graph_node_add_free(out_node, graph, dependencies, count, params->of.freed);
    case CXU_GRAPH_NODE_TYPE_CONDITIONAL:
        return add_condition(out_node, graph, dependencies, count, &params->of.condition);
    default:
        return add_any(out_node, graph, dependencies, count, params);
    }
}

cxu_result cx_emu_call_graph_add_node(CUgraphNode *out_node, CUgraph graph,
                                      const CUgraphNode *dependencies,
                                      const cxu_graph_edge_data *edges, size_t count,
                                      cxu_graph_node_params *params)
{
    cxu_result result = cx_emu_enter();

    if (result == CXU_SUCCESS)
        result = check_params("cuGraphAddNode", params, true);
    if (result != CXU_SUCCESS)
        return result;
    if (out_node == NULL || !cx_emu_edges_plain(edges, count))
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = add_described(out_node, graph, dependencies, count, params);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_add_node_v1(CUgraphNode *out_node, CUgraph graph,
                                         const CUgraphNode *dependencies, size_t count,
                                         cxu_graph_node_params *params)
{
    return cx_emu_call_graph_add_node(out_node, graph, dependencies, NULL, count, params);
}

/* ---- changing ---- */

static cxu_result change_any(CUgraphExec exec, CUgraphNode node,
                             const cx_emu_node_params *node_params)
{
    return exec != NULL ? cx_emu_exec_change(exec, node, node_params)
                        : cx_emu_graph_node_set(node, node_params);
}

/* Changes a node of a graph, or of `exec` if that is given; a child graph only there. */
static cxu_result set_any(const char *call, CUgraphExec exec, CUgraphNode node,
                          const cxu_graph_node_params *params)
{
    cx_emu_node_params node_params;
    cxu_result result = check_params(call, params, false);

    if (result != CXU_SUCCESS)
        return result;
    if (params->type == CXU_GRAPH_NODE_TYPE_GRAPH && exec == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = read_params(params, &node_params);
    if (result == CXU_SUCCESS) {
        result = params->type == CXU_GRAPH_NODE_TYPE_GRAPH
                     ? cx_emu_exec_change_child(exec, node, params->of.child.graph)
                     : change_any(exec, node, &node_params);
        cx_emu_node_params_drop(&node_params);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_node_set_params(CUgraphNode node, cxu_graph_node_params *params)
{
    cxu_result result = cx_emu_enter();

    return result == CXU_SUCCESS ? set_any("cuGraphNodeSetParams", NULL, node, params) : result;
}

cxu_result cx_emu_call_graph_exec_node_set_params(CUgraphExec exec, CUgraphNode node,
                                                  cxu_graph_node_params *params)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    return exec != NULL ? set_any("cuGraphExecNodeSetParams", exec, node, params)
                        : CXU_INVALID_VALUE;
}
