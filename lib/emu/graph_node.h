/*
 * Nodes as the calls name them. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_GRAPH_NODE_H
#define CX_EMU_GRAPH_NODE_H

#include "emu/graph.h"

/* Adds a node that can do what it is to do. CXU_INVALID_VALUE: no such graph or dependencies;
 * errors of cx_emu_operation_check; CXU_OUT_OF_MEMORY. A child graph becomes the node's. */
cxu_result cx_emu_graph_node_add(CUgraphNode *out_node, CUgraph graph,
                                 const CUgraphNode *dependencies, size_t count,
                                 const cx_emu_operation *operation);

/* A launch as the user describes one; the caller drops its arguments. The errors of
 * cx_emu_launch_take, and of looking for the context. */
cxu_result cx_emu_graph_kernel_take(const cxu_kernel_node_params *params,
                                    cx_emu_operation *out_operation);

/* The same with a graph of the user's: a copy of it, or itself if `move`. CXU_NOT_SUPPORTED: too
 * deep in others. */
cxu_result cx_emu_graph_node_add_child(CUgraphNode *out_node, CUgraph graph,
                                       const CUgraphNode *dependencies, size_t count, CUgraph child,
                                       bool move);

/* What a node of that type does from now on; without a context of its own the operation keeps the
 * node's. */
cxu_result cx_emu_graph_node_set(CUgraphNode node, const cx_emu_operation *operation);

#endif
