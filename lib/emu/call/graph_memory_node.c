/* Nodes that allocate and free memory. */
#include "emu/base/state.h"
#include "emu/graph/graph_memory.h"
#include "emu/graph/graph_node.h"

bool cx_emu_graph_frees(const cx_emu_graph *graph, const cx_emu_block *block)
{
    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next)
        if (each->node_params.type == CXU_GRAPH_NODE_TYPE_MEM_FREE &&
            each->node_params.of.block == block)
            return true;
    return false;
}

cxu_result cx_emu_graph_node_add_alloc(CUgraphNode *out_node, CUgraph graph,
                                       const CUgraphNode *dependencies, size_t count,
                                       cxu_mem_alloc_node_params *params)
{
    cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_MEM_ALLOC};
    cxu_result result =
        cx_emu_block_create("cuGraphAddMemAllocNode", params, &node_params.of.block);

    if (result != CXU_SUCCESS)
        return result;
    result = cx_emu_graph_node_add(out_node, graph, dependencies, count, &node_params);
    if (result == CXU_SUCCESS)
        params->address = node_params.of.block->params.address;
    cx_emu_node_params_drop(&node_params);
    return result;
}

cxu_result cx_emu_graph_node_add_free(CUgraphNode *out_node, CUgraph graph_handle,
                                      const CUgraphNode *dependencies, size_t count,
                                      CUdeviceptr address)
{
    cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_MEM_FREE};
    cx_emu_graph *graph;
    cxu_result result = cx_emu_graph_find(graph_handle, &graph);

    if (result != CXU_SUCCESS)
        return result;
    node_params.of.block = cx_emu_block_at(address);
    if (node_params.of.block == NULL || cx_emu_graph_frees(graph, node_params.of.block))
        return CXU_INVALID_VALUE;
    return cx_emu_graph_node_add(out_node, graph_handle, dependencies, count, &node_params);
}

cxu_result cx_emu_call_graph_add_mem_alloc_node(CUgraphNode *out_node, CUgraph graph,
                                                const CUgraphNode *dependencies, size_t count,
                                                cxu_mem_alloc_node_params *params)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_node == NULL || params == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_graph_node_add_alloc(out_node, graph, dependencies, count, params);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_add_mem_free_node(CUgraphNode *out_node, CUgraph graph,
                                               const CUgraphNode *dependencies, size_t count,
                                               CUdeviceptr address)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_node == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_graph_node_add_free(out_node, graph, dependencies, count, address);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* Finds the parameters of the block that a node allocates or frees. */
static cxu_result get_block_params(CUgraphNode handle, cxu_graph_node_type type, const void *out,
                                   cxu_mem_alloc_node_params *out_params)
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
        *out_params = node->node_params.of.block->params;
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_mem_alloc_node_get_params(CUgraphNode handle,
                                                       cxu_mem_alloc_node_params *out_params)
{
    return get_block_params(handle, CXU_GRAPH_NODE_TYPE_MEM_ALLOC, out_params, out_params);
}

cxu_result cx_emu_call_graph_mem_free_node_get_params(CUgraphNode handle, CUdeviceptr *out_address)
{
    cxu_mem_alloc_node_params found;
    cxu_result result = get_block_params(handle, CXU_GRAPH_NODE_TYPE_MEM_FREE, out_address, &found);

    if (result == CXU_SUCCESS)
        *out_address = found.address;
    return result;
}
