/* Graphs, executable graphs and user objects; graph_node.c has the nodes. */
#include "runtime/calls.h"
#include "runtime/driver.h"

cxr_error cxr_cudaGraphCreate(CUgraph *out_graph, unsigned int flags)
{
    CX_CUDART_PASS(graph_create, (out_graph, flags));
}

cxr_error cxr_cudaGraphDestroy(CUgraph graph)
{
    CX_CUDART_PASS(graph_destroy, (graph));
}

cxr_error cxr_cudaGraphClone(CUgraph *out_clone, CUgraph original)
{
    CX_CUDART_PASS(graph_clone, (out_clone, original));
}

cxr_error cxr_cudaGraphNodeFindInClone(CUgraphNode *out_node, CUgraphNode original, CUgraph clone)
{
    CX_CUDART_PASS(graph_node_find_in_clone, (out_node, original, clone));
}

cxr_error cxr_cudaGraphNodeGetType(CUgraphNode node, cxu_graph_node_type *out_type)
{
    CX_CUDART_PASS(graph_node_get_type, (node, out_type));
}

cxr_error cxr_cudaGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    CX_CUDART_PASS(graph_get_nodes, (graph, nodes, count));
}

cxr_error cxr_cudaGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    CX_CUDART_PASS(graph_get_root_nodes, (graph, nodes, count));
}

cxr_error cxr_cudaGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    CX_CUDART_PASS(graph_get_edges_v1, (graph, from, to, count));
}

cxr_error cxr_cudaGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                                   cxu_graph_edge_data *edges, size_t *count)
{
    CX_CUDART_PASS(graph_get_edges, (graph, from, to, edges, count));
}

cxr_error cxr_cudaGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    CX_CUDART_PASS(graph_node_get_dependencies_v1, (node, nodes, count));
}

cxr_error cxr_cudaGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes,
                                              cxu_graph_edge_data *edges, size_t *count)
{
    CX_CUDART_PASS(graph_node_get_dependencies, (node, nodes, edges, count));
}

cxr_error cxr_cudaGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    CX_CUDART_PASS(graph_node_get_dependent_nodes_v1, (node, nodes, count));
}

cxr_error cxr_cudaGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes,
                                                cxu_graph_edge_data *edges, size_t *count)
{
    CX_CUDART_PASS(graph_node_get_dependent_nodes, (node, nodes, edges, count));
}

cxr_error cxr_cudaGraphAddDependencies(CUgraph graph, const CUgraphNode *from,
                                       const CUgraphNode *to, size_t count)
{
    CX_CUDART_PASS(graph_add_dependencies_v1, (graph, from, to, count));
}

cxr_error cxr_cudaGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from,
                                          const CUgraphNode *to, const cxu_graph_edge_data *edges,
                                          size_t count)
{
    CX_CUDART_PASS(graph_add_dependencies, (graph, from, to, edges, count));
}

cxr_error cxr_cudaGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
                                          const CUgraphNode *to, size_t count)
{
    CX_CUDART_PASS(graph_remove_dependencies_v1, (graph, from, to, count));
}

cxr_error cxr_cudaGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from,
                                             const CUgraphNode *to,
                                             const cxu_graph_edge_data *edges, size_t count)
{
    CX_CUDART_PASS(graph_remove_dependencies, (graph, from, to, edges, count));
}

cxr_error cxr_cudaGraphDestroyNode(CUgraphNode node)
{
    CX_CUDART_PASS(graph_destroy_node, (node));
}

cxr_error cxr_cudaGraphDebugDotPrint(CUgraph graph, const char *path, unsigned int flags)
{
    CX_CUDART_PASS(graph_debug_dot_print, (graph, path, flags));
}

cxr_error cxr_cudaGraphConditionalHandleCreate(uint64_t *out_handle, CUgraph graph,
                                               unsigned int value, unsigned int flags)
{
    CX_CUDART_PASS(graph_conditional_handle_create,
                   (out_handle, graph, cx_cudart_thread_get()->current, value, flags));
}

/* ---- executable graphs ---- */

cxr_error cxr_cudaGraphInstantiateWithFlags(CUgraphExec *out_exec, CUgraph graph,
                                            unsigned long long flags)
{
    CX_CUDART_PASS(graph_instantiate_with_flags, (out_exec, graph, flags));
}

cxr_error cxr_cudaGraphInstantiate_v11(CUgraphExec *out_exec, CUgraph graph,
                                       CUgraphNode *out_error_node, char *log, size_t log_bytes)
{
    CX_CUDART_PASS(graph_instantiate_v2, (out_exec, graph, out_error_node, log, log_bytes));
}

cxr_error cxr_cudaGraphInstantiateWithParams(CUgraphExec *out_exec, CUgraph graph,
                                             cxu_graph_instantiate_params *params)
{
    CX_CUDART_PASS(graph_instantiate_with_params, (out_exec, graph, params));
}

cxr_error cxr_cudaGraphExecGetFlags(CUgraphExec exec, unsigned long long *out_flags)
{
    CX_CUDART_PASS(graph_exec_get_flags, (exec, (uint64_t *)out_flags));
}

cxr_error cxr_cudaGraphExecUpdate(CUgraphExec exec, CUgraph graph,
                                  cxu_graph_exec_update_result_info *out_info)
{
    CX_CUDART_PASS(graph_exec_update, (exec, graph, out_info));
}

cxr_error cxr_cudaGraphExecUpdate_v11(CUgraphExec exec, CUgraph graph, CUgraphNode *out_error_node,
                                      cxu_graph_exec_update_result *out_result)
{
    CX_CUDART_PASS(graph_exec_update_v1, (exec, graph, out_error_node, out_result));
}

cxr_error cxr_cudaGraphUpload(CUgraphExec exec, CUstream stream)
{
    CX_CUDART_PASS(graph_upload, (exec, stream));
}

cxr_error cxr_cudaGraphLaunch(CUgraphExec exec, CUstream stream)
{
    CX_CUDART_PASS(graph_launch, (exec, stream));
}

cxr_error cxr_cudaGraphExecDestroy(CUgraphExec exec)
{
    CX_CUDART_PASS(graph_exec_destroy, (exec));
}

cxr_error cxr_cudaGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled)
{
    CX_CUDART_PASS(graph_node_set_enabled, (exec, node, enabled));
}

cxr_error cxr_cudaGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int *out_enabled)
{
    CX_CUDART_PASS(graph_node_get_enabled, (exec, node, out_enabled));
}

/* ---- memory of graphs ---- */

cxr_error cxr_cudaDeviceGraphMemTrim(int device)
{
    CX_CUDART_PASS(device_graph_mem_trim, (device));
}

cxr_error cxr_cudaDeviceGetGraphMemAttribute(int device, cxu_graph_mem_attribute attribute,
                                             void *out_value)
{
    CX_CUDART_PASS(device_get_graph_mem_attribute, (device, attribute, out_value));
}

cxr_error cxr_cudaDeviceSetGraphMemAttribute(int device, cxu_graph_mem_attribute attribute,
                                             void *value)
{
    CX_CUDART_PASS(device_set_graph_mem_attribute, (device, attribute, value));
}

/* ---- user objects ---- */

cxr_error cxr_cudaUserObjectCreate(CUuserObject *out_object, void *pointer, CUhostFn destroy,
                                   unsigned int count, unsigned int flags)
{
    CX_CUDART_PASS(user_object_create, (out_object, pointer, destroy, count, flags));
}

cxr_error cxr_cudaUserObjectRetain(CUuserObject object, unsigned int count)
{
    CX_CUDART_PASS(user_object_retain, (object, count));
}

cxr_error cxr_cudaUserObjectRelease(CUuserObject object, unsigned int count)
{
    CX_CUDART_PASS(user_object_release, (object, count));
}

cxr_error cxr_cudaGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
                                        unsigned int flags)
{
    CX_CUDART_PASS(graph_retain_user_object, (graph, object, count, flags));
}

cxr_error cxr_cudaGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
    CX_CUDART_PASS(graph_release_user_object, (graph, object, count));
}
