/* Nodes that launch kernels. */
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/graph/exec.h"
#include "emu/graph/graph_node.h"
#include <stddef.h>
#include <string.h>

/* ---- the user's description ---- */

static cxu_result find_context(const cxu_kernel_node_params *params, cx_emu_context **out_context)
{
    cx_emu_launch only = {.function = params->function};

    if (params->function == NULL || cx_emu_is_kernel(params->function))
        return cx_emu_context_find_or_current(params->context, out_context);
    return cx_emu_launch_context(&only, out_context);
}

cxu_result cx_emu_graph_kernel_take(const cxu_kernel_node_params *params,
                                    cx_emu_node_params *out_node_params)
{
    CUfunction function =
        params->function != NULL ? params->function : (CUfunction)(void *)params->kernel;
    cx_emu_launch *launch = &out_node_params->of.kernel;
    cx_emu_context *context;
    cxu_result result;

    if (function == NULL)
        return CXU_INVALID_HANDLE;
    result = find_context(params, &context);
    if (result != CXU_SUCCESS)
        return result;
    *out_node_params = (cx_emu_node_params){.type = CXU_GRAPH_NODE_TYPE_KERNEL};
    *launch = (cx_emu_launch){.grid = {params->grid_x, params->grid_y, params->grid_z},
                              .block = {params->block_x, params->block_y, params->block_z},
                              .shared_bytes = params->shared_bytes,
                              .kernel = params->function != NULL ? NULL : params->kernel};
    return cx_emu_launch_take(launch, context, function, params->parameters, params->extra);
}

_Static_assert(offsetof(cxu_kernel_node_params, kernel) == sizeof(cxu_kernel_node_params_v1),
               "the later version begins with the first one");

static cxu_kernel_node_params widen_params(const cxu_kernel_node_params_v1 *params)
{
    cxu_kernel_node_params wide = {0};

    memcpy(&wide, params, sizeof *params);
    return wide;
}

/* ---- adding ---- */

cxu_result cx_emu_call_graph_add_kernel_node(CUgraphNode *out_node, CUgraph graph,
                                             const CUgraphNode *dependencies, size_t count,
                                             const cxu_kernel_node_params *params)
{
    cx_emu_node_params node_params;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_node == NULL || params == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_graph_kernel_take(params, &node_params);
    if (result == CXU_SUCCESS) {
        result = cx_emu_graph_node_add(out_node, graph, dependencies, count, &node_params);
        cx_emu_node_params_drop(&node_params);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_add_kernel_node_v1(CUgraphNode *out_node, CUgraph graph,
                                                const CUgraphNode *dependencies, size_t count,
                                                const cxu_kernel_node_params_v1 *params)
{
    cxu_kernel_node_params wide;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (params == NULL)
        return CXU_INVALID_VALUE;
    wide = widen_params(params);
    return cx_emu_call_graph_add_kernel_node(out_node, graph, dependencies, count, &wide);
}

/* ---- parameters ---- */

/* The arguments are in the node, and last as long as it keeps them. */
static cxu_result read_params(CUgraphNode handle, cxu_kernel_node_params *out_params)
{
    const cx_emu_launch *launch;
    cx_emu_node *node;
    cxu_result result = cx_emu_node_find(handle, &node);

    if (result != CXU_SUCCESS)
        return result;
    if (node->node_params.type != CXU_GRAPH_NODE_TYPE_KERNEL)
        return CXU_INVALID_VALUE;
    launch = &node->node_params.of.kernel;
    *out_params = (cxu_kernel_node_params){
        .function = launch->function,
        .grid_x = launch->grid[0],
        .grid_y = launch->grid[1],
        .grid_z = launch->grid[2],
        .block_x = launch->block[0],
        .block_y = launch->block[1],
        .block_z = launch->block[2],
        .shared_bytes = launch->shared_bytes,
        .parameters = launch->arguments->each,
        .kernel = launch->kernel,
    };
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_graph_kernel_node_get_params(CUgraphNode node,
                                                    cxu_kernel_node_params *out_params)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_params == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = read_params(node, out_params);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_kernel_node_get_params_v1(CUgraphNode node,
                                                       cxu_kernel_node_params_v1 *out_params)
{
    cxu_kernel_node_params wide;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_params == NULL)
        return CXU_INVALID_VALUE;
    result = cx_emu_call_graph_kernel_node_get_params(node, &wide);
    if (result != CXU_SUCCESS)
        return result;
    memcpy(out_params, &wide, sizeof *out_params);
    return CXU_SUCCESS;
}

/* Changes a node of a graph, or of `exec` if that is given. */
static cxu_result change_node(CUgraphExec exec, CUgraphNode node,
                              const cxu_kernel_node_params *params)
{
    cx_emu_node_params node_params;
    cxu_result result;

    if (params == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_graph_kernel_take(params, &node_params);
    if (result == CXU_SUCCESS) {
        result = exec != NULL ? cx_emu_exec_change(exec, node, &node_params)
                              : cx_emu_graph_node_set(node, &node_params);
        cx_emu_node_params_drop(&node_params);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_kernel_node_set_params(CUgraphNode node,
                                                    const cxu_kernel_node_params *params)
{
    cxu_result result = cx_emu_enter();

    return result == CXU_SUCCESS ? change_node(NULL, node, params) : result;
}

cxu_result cx_emu_call_graph_kernel_node_set_params_v1(CUgraphNode node,
                                                       const cxu_kernel_node_params_v1 *params)
{
    cxu_kernel_node_params wide;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (params == NULL)
        return CXU_INVALID_VALUE;
    wide = widen_params(params);
    return change_node(NULL, node, &wide);
}

cxu_result cx_emu_call_graph_exec_kernel_node_set_params(CUgraphExec exec, CUgraphNode node,
                                                         const cxu_kernel_node_params *params)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    return exec != NULL ? change_node(exec, node, params) : CXU_INVALID_VALUE;
}

cxu_result cx_emu_call_graph_exec_kernel_node_set_params_v1(CUgraphExec exec, CUgraphNode node,
                                                            const cxu_kernel_node_params_v1 *params)
{
    cxu_kernel_node_params wide;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (exec == NULL || params == NULL)
        return CXU_INVALID_VALUE;
    wide = widen_params(params);
    return change_node(exec, node, &wide);
}
