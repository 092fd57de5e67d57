/*
 * Nodes as the driver calls name them. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_GRAPH_NODE_H
#define CX_EMU_GRAPH_NODE_H

#include "emu/graph/graph.h"

/* Adds a node with a valid operation. CXU_INVALID_VALUE: no such graph or dependencies; errors of
 * cx_emu_node_params_check; CXU_OUT_OF_MEMORY. The node takes a child graph. */
cxu_result cx_emu_graph_node_add(CUgraphNode *out_node, CUgraph graph,
                                 const CUgraphNode *dependencies, size_t count,
                                 const cx_emu_node_params *node_params);

/* Reads a launch as the user describes one; the caller drops its arguments. Errors of
 * cx_emu_launch_take, and of finding the context. */
cxu_result cx_emu_graph_kernel_take(const cxu_kernel_node_params *params,
                                    cx_emu_node_params *out_node_params);

/* Adds a node with a graph of the user's: a copy of it, or itself if `move`. CXU_NOT_SUPPORTED: too
 * deeply nested. */
cxu_result cx_emu_graph_node_add_child(CUgraphNode *out_node, CUgraph graph,
                                       const CUgraphNode *dependencies, size_t count, CUgraph child,
                                       bool move);

/* Adds a node that allocates a new block, whose address the parameters get; or one that frees the
 * block at an address. CXU_INVALID_VALUE: there is none, or the graph frees it already. */
cxu_result cx_emu_graph_node_add_alloc(CUgraphNode *out_node, CUgraph graph,
                                       const CUgraphNode *dependencies, size_t count,
                                       cxu_mem_alloc_node_params *params);
cxu_result cx_emu_graph_node_add_free(CUgraphNode *out_node, CUgraph graph,
                                      const CUgraphNode *dependencies, size_t count,
                                      CUdeviceptr address);

/* CXU_INVALID_VALUE: no such node, or one of another type. */
static inline cxu_result cx_emu_node_find_typed(CUgraphNode handle, cxu_graph_node_type type,
                                                cx_emu_node **out_node)
{
    cxu_result result = cx_emu_node_find(handle, out_node);
    return result == CXU_SUCCESS && (*out_node)->node_params.type != type ? CXU_INVALID_VALUE
                                                                          : result;
}

/* Changes the operation of a node of that type; if the operation has no context, it keeps the
 * node's. */
cxu_result cx_emu_graph_node_set(CUgraphNode node, const cx_emu_node_params *node_params);

#endif
