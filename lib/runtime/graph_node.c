#include "runtime/calls.h"
#include "runtime/code.h"
#include "runtime/copy.h"
#include "runtime/driver.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static CUcontext current(void)
{
    return cx_cudart_thread_get()->current;
}

/* ---- kernels ---- */

static cxr_error to_driver_kernel(const cxr_kernel_node_params *params,
                                  cxu_kernel_node_params *out_params)
{
    CUfunction function;
    if (params == NULL)
        return CXR_INVALID_VALUE;
    cxr_error error = cx_cudart_function_find(params->function, &function);
    if (error != CXR_SUCCESS)
        return error;
    *out_params = (cxu_kernel_node_params){.function = function,
                                           .grid_x = params->grid.x,
                                           .grid_y = params->grid.y,
                                           .grid_z = params->grid.z,
                                           .block_x = params->block.x,
                                           .block_y = params->block.y,
                                           .block_z = params->block.z,
                                           .shared_bytes = params->shared_bytes,
                                           .parameters = params->parameters,
                                           .extra = params->extra};
    return CXR_SUCCESS;
}

static cxr_error begin_kernel(const cxr_kernel_node_params *params,
                              const cx_driver_table **out_driver,
                              cxu_kernel_node_params *out_params)
{
    cxr_error error = cx_cudart_use_context(out_driver);
    return error != CXR_SUCCESS ? error : to_driver_kernel(params, out_params);
}

cxr_error cxr_cudaGraphAddKernelNode(CUgraphNode *out_node, CUgraph graph,
                                     const CUgraphNode *dependencies, size_t count,
                                     const cxr_kernel_node_params *params)
{
    const cx_driver_table *driver;
    cxu_kernel_node_params kernel;
    cxr_error error = begin_kernel(params, &driver, &kernel);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->graph_add_kernel_node(out_node, graph, dependencies, count, &kernel);
}

cxr_error cxr_cudaGraphKernelNodeSetParams(CUgraphNode node, const cxr_kernel_node_params *params)
{
    const cx_driver_table *driver;
    cxu_kernel_node_params kernel;
    cxr_error error = begin_kernel(params, &driver, &kernel);
    return error != CXR_SUCCESS ? error
                                : (cxr_error)driver->graph_kernel_node_set_params(node, &kernel);
}

cxr_error cxr_cudaGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                               const cxr_kernel_node_params *params)
{
    const cx_driver_table *driver;
    cxu_kernel_node_params kernel;
    cxr_error error = begin_kernel(params, &driver, &kernel);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->graph_exec_kernel_node_set_params(exec, node, &kernel);
}

cxr_error cxr_cudaGraphKernelNodeGetParams(CUgraphNode node, cxr_kernel_node_params *out_params)
{
    const cx_driver_table *driver;
    cxu_kernel_node_params kernel = {0};
    if (out_params == NULL)
        return CXR_INVALID_VALUE;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->graph_kernel_node_get_params(node, &kernel);
    if (error != CXR_SUCCESS)
        return error;
    *out_params =
        (cxr_kernel_node_params){.function = (void *)(uintptr_t)cx_cudart_host_of(kernel.function),
                                 .grid = {kernel.grid_x, kernel.grid_y, kernel.grid_z},
                                 .block = {kernel.block_x, kernel.block_y, kernel.block_z},
                                 .shared_bytes = kernel.shared_bytes,
                                 .parameters = kernel.parameters,
                                 .extra = kernel.extra};
    return CXR_SUCCESS;
}

cxr_error cxr_cudaGraphKernelNodeGetAttribute(CUgraphNode node, cxu_launch_attribute_id attribute,
                                              cxu_launch_attribute_value *out_value)
{
    CX_CUDART_PASS(graph_kernel_node_get_attribute, (node, attribute, out_value));
}

cxr_error cxr_cudaGraphKernelNodeSetAttribute(CUgraphNode node, cxu_launch_attribute_id attribute,
                                              const cxu_launch_attribute_value *value)
{
    CX_CUDART_PASS(graph_kernel_node_set_attribute, (node, attribute, value));
}

cxr_error cxr_cudaGraphKernelNodeCopyAttributes(CUgraphNode destination, CUgraphNode source)
{
    CX_CUDART_PASS(graph_kernel_node_copy_attributes, (destination, source));
}

/* Before CUDA 13 the source came first. */
cxr_error cxr_cudaGraphKernelNodeCopyAttributes_v11(CUgraphNode source, CUgraphNode destination)
{
    return cxr_cudaGraphKernelNodeCopyAttributes(destination, source);
}

/* ---- copies ---- */

static cxr_error add_copy(CUgraphNode *out_node, CUgraph graph, const CUgraphNode *dependencies,
                          size_t count, const cxu_memcpy_3d *copy)
{
    CX_CUDART_PASS(graph_add_memcpy_node, (out_node, graph, dependencies, count, copy, current()));
}

static cxr_error set_copy(CUgraphNode node, const cxu_memcpy_3d *copy)
{
    CX_CUDART_PASS(graph_memcpy_node_set_params, (node, copy));
}

static cxr_error set_exec_copy(CUgraphExec exec, CUgraphNode node, const cxu_memcpy_3d *copy)
{
    CX_CUDART_PASS(graph_exec_memcpy_node_set_params, (exec, node, copy, current()));
}

cxr_error cxr_cudaGraphAddMemcpyNode(CUgraphNode *out_node, CUgraph graph,
                                     const CUgraphNode *dependencies, size_t count,
                                     const cxr_copy_3d *params)
{
    cxu_memcpy_3d copy;
    cxr_error error = cx_cudart_copy_3d(params, &copy);
    return error != CXR_SUCCESS ? error : add_copy(out_node, graph, dependencies, count, &copy);
}

cxr_error cxr_cudaGraphMemcpyNodeSetParams(CUgraphNode node, const cxr_copy_3d *params)
{
    cxu_memcpy_3d copy;
    cxr_error error = cx_cudart_copy_3d(params, &copy);
    return error != CXR_SUCCESS ? error : set_copy(node, &copy);
}

cxr_error cxr_cudaGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                               const cxr_copy_3d *params)
{
    cxu_memcpy_3d copy;
    cxr_error error = cx_cudart_copy_3d(params, &copy);
    return error != CXR_SUCCESS ? error : set_exec_copy(exec, node, &copy);
}

cxr_error cxr_cudaGraphMemcpyNodeGetParams(CUgraphNode node, cxr_copy_3d *out_params)
{
    const cx_driver_table *driver;
    cxu_memcpy_3d copy;
    if (out_params == NULL)
        return CXR_INVALID_VALUE;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->graph_memcpy_node_get_params(node, &copy);
    if (error == CXR_SUCCESS)
        cx_cudart_copy_of_driver(&copy, out_params);
    return error;
}

cxr_error cxr_cudaGraphAddMemcpyNode1D(CUgraphNode *out_node, CUgraph graph,
                                       const CUgraphNode *dependencies, size_t count,
                                       void *destination, const void *source, size_t bytes,
                                       cxr_copy_kind kind)
{
    cxu_memcpy_3d copy;
    cxr_error error = cx_cudart_copy_1d(destination, source, bytes, kind, &copy);
    return error != CXR_SUCCESS ? error : add_copy(out_node, graph, dependencies, count, &copy);
}

cxr_error cxr_cudaGraphMemcpyNodeSetParams1D(CUgraphNode node, void *destination,
                                             const void *source, size_t bytes, cxr_copy_kind kind)
{
    cxu_memcpy_3d copy;
    cxr_error error = cx_cudart_copy_1d(destination, source, bytes, kind, &copy);
    return error != CXR_SUCCESS ? error : set_copy(node, &copy);
}

cxr_error cxr_cudaGraphExecMemcpyNodeSetParams1D(CUgraphExec exec, CUgraphNode node,
                                                 void *destination, const void *source,
                                                 size_t bytes, cxr_copy_kind kind)
{
    cxu_memcpy_3d copy;
    cxr_error error = cx_cudart_copy_1d(destination, source, bytes, kind, &copy);
    return error != CXR_SUCCESS ? error : set_exec_copy(exec, node, &copy);
}

static cxr_error copy_to_symbol(const void *symbol, const void *source, size_t bytes, size_t offset,
                                cxr_copy_kind kind, cxu_memcpy_3d *out_copy)
{
    void *part;
    cxr_error error = cx_cudart_symbol_part(symbol, bytes, offset, &part);
    return error != CXR_SUCCESS ? error : cx_cudart_copy_1d(part, source, bytes, kind, out_copy);
}

static cxr_error copy_from_symbol(void *destination, const void *symbol, size_t bytes,
                                  size_t offset, cxr_copy_kind kind, cxu_memcpy_3d *out_copy)
{
    void *part;
    cxr_error error = cx_cudart_symbol_part(symbol, bytes, offset, &part);
    return error != CXR_SUCCESS ? error
                                : cx_cudart_copy_1d(destination, part, bytes, kind, out_copy);
}

cxr_error cxr_cudaGraphAddMemcpyNodeToSymbol(CUgraphNode *out_node, CUgraph graph,
                                             const CUgraphNode *dependencies, size_t count,
                                             const void *symbol, const void *source, size_t bytes,
                                             size_t offset, cxr_copy_kind kind)
{
    cxu_memcpy_3d copy;
    cxr_error error = copy_to_symbol(symbol, source, bytes, offset, kind, &copy);
    return error != CXR_SUCCESS ? error : add_copy(out_node, graph, dependencies, count, &copy);
}

cxr_error cxr_cudaGraphAddMemcpyNodeFromSymbol(CUgraphNode *out_node, CUgraph graph,
                                               const CUgraphNode *dependencies, size_t count,
                                               void *destination, const void *symbol, size_t bytes,
                                               size_t offset, cxr_copy_kind kind)
{
    cxu_memcpy_3d copy;
    cxr_error error = copy_from_symbol(destination, symbol, bytes, offset, kind, &copy);
    return error != CXR_SUCCESS ? error : add_copy(out_node, graph, dependencies, count, &copy);
}

cxr_error cxr_cudaGraphMemcpyNodeSetParamsToSymbol(CUgraphNode node, const void *symbol,
                                                   const void *source, size_t bytes, size_t offset,
                                                   cxr_copy_kind kind)
{
    cxu_memcpy_3d copy;
    cxr_error error = copy_to_symbol(symbol, source, bytes, offset, kind, &copy);
    return error != CXR_SUCCESS ? error : set_copy(node, &copy);
}

cxr_error cxr_cudaGraphMemcpyNodeSetParamsFromSymbol(CUgraphNode node, void *destination,
                                                     const void *symbol, size_t bytes,
                                                     size_t offset, cxr_copy_kind kind)
{
    cxu_memcpy_3d copy;
    cxr_error error = copy_from_symbol(destination, symbol, bytes, offset, kind, &copy);
    return error != CXR_SUCCESS ? error : set_copy(node, &copy);
}

cxr_error cxr_cudaGraphExecMemcpyNodeSetParamsToSymbol(CUgraphExec exec, CUgraphNode node,
                                                       const void *symbol, const void *source,
                                                       size_t bytes, size_t offset,
                                                       cxr_copy_kind kind)
{
    cxu_memcpy_3d copy;
    cxr_error error = copy_to_symbol(symbol, source, bytes, offset, kind, &copy);
    return error != CXR_SUCCESS ? error : set_exec_copy(exec, node, &copy);
}

cxr_error cxr_cudaGraphExecMemcpyNodeSetParamsFromSymbol(CUgraphExec exec, CUgraphNode node,
                                                         void *destination, const void *symbol,
                                                         size_t bytes, size_t offset,
                                                         cxr_copy_kind kind)
{
    cxu_memcpy_3d copy;
    cxr_error error = copy_from_symbol(destination, symbol, bytes, offset, kind, &copy);
    return error != CXR_SUCCESS ? error : set_exec_copy(exec, node, &copy);
}

/* ---- fills ---- */

cxr_error cxr_cudaGraphAddMemsetNode(CUgraphNode *out_node, CUgraph graph,
                                     const CUgraphNode *dependencies, size_t count,
                                     const cxu_memset_node_params *params)
{
    CX_CUDART_PASS(graph_add_memset_node,
                   (out_node, graph, dependencies, count, params, current()));
}

cxr_error cxr_cudaGraphMemsetNodeGetParams(CUgraphNode node, cxu_memset_node_params *out_params)
{
    CX_CUDART_PASS(graph_memset_node_get_params, (node, out_params));
}

cxr_error cxr_cudaGraphMemsetNodeSetParams(CUgraphNode node, const cxu_memset_node_params *params)
{
    CX_CUDART_PASS(graph_memset_node_set_params, (node, params));
}

cxr_error cxr_cudaGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                               const cxu_memset_node_params *params)
{
    CX_CUDART_PASS(graph_exec_memset_node_set_params, (exec, node, params, current()));
}

/* ---- host functions, child graphs, events ---- */

cxr_error cxr_cudaGraphAddHostNode(CUgraphNode *out_node, CUgraph graph,
                                   const CUgraphNode *dependencies, size_t count,
                                   const cxu_host_node_params *params)
{
    CX_CUDART_PASS(graph_add_host_node, (out_node, graph, dependencies, count, params));
}

cxr_error cxr_cudaGraphHostNodeGetParams(CUgraphNode node, cxu_host_node_params *out_params)
{
    CX_CUDART_PASS(graph_host_node_get_params, (node, out_params));
}

cxr_error cxr_cudaGraphHostNodeSetParams(CUgraphNode node, const cxu_host_node_params *params)
{
    CX_CUDART_PASS(graph_host_node_set_params, (node, params));
}

cxr_error cxr_cudaGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                             const cxu_host_node_params *params)
{
    CX_CUDART_PASS(graph_exec_host_node_set_params, (exec, node, params));
}

cxr_error cxr_cudaGraphAddChildGraphNode(CUgraphNode *out_node, CUgraph graph,
                                         const CUgraphNode *dependencies, size_t count,
                                         CUgraph child)
{
    CX_CUDART_PASS(graph_add_child_graph_node, (out_node, graph, dependencies, count, child));
}

cxr_error cxr_cudaGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *out_graph)
{
    CX_CUDART_PASS(graph_child_graph_node_get_graph, (node, out_graph));
}

cxr_error cxr_cudaGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                   CUgraph child)
{
    CX_CUDART_PASS(graph_exec_child_graph_node_set_params, (exec, node, child));
}

cxr_error cxr_cudaGraphAddEmptyNode(CUgraphNode *out_node, CUgraph graph,
                                    const CUgraphNode *dependencies, size_t count)
{
    CX_CUDART_PASS(graph_add_empty_node, (out_node, graph, dependencies, count));
}

cxr_error cxr_cudaGraphAddEventRecordNode(CUgraphNode *out_node, CUgraph graph,
                                          const CUgraphNode *dependencies, size_t count,
                                          CUevent event)
{
    CX_CUDART_PASS(graph_add_event_record_node, (out_node, graph, dependencies, count, event));
}

cxr_error cxr_cudaGraphAddEventWaitNode(CUgraphNode *out_node, CUgraph graph,
                                        const CUgraphNode *dependencies, size_t count,
                                        CUevent event)
{
    CX_CUDART_PASS(graph_add_event_wait_node, (out_node, graph, dependencies, count, event));
}

cxr_error cxr_cudaGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *out_event)
{
    CX_CUDART_PASS(graph_event_record_node_get_event, (node, out_event));
}

cxr_error cxr_cudaGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
    CX_CUDART_PASS(graph_event_record_node_set_event, (node, event));
}

cxr_error cxr_cudaGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *out_event)
{
    CX_CUDART_PASS(graph_event_wait_node_get_event, (node, out_event));
}

cxr_error cxr_cudaGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
    CX_CUDART_PASS(graph_event_wait_node_set_event, (node, event));
}

cxr_error cxr_cudaGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                                   CUevent event)
{
    CX_CUDART_PASS(graph_exec_event_record_node_set_event, (exec, node, event));
}

cxr_error cxr_cudaGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    CX_CUDART_PASS(graph_exec_event_wait_node_set_event, (exec, node, event));
}

/* ---- allocations ---- */

cxr_error cxr_cudaGraphAddMemAllocNode(CUgraphNode *out_node, CUgraph graph,
                                       const CUgraphNode *dependencies, size_t count,
                                       cxu_mem_alloc_node_params *params)
{
    CX_CUDART_PASS(graph_add_mem_alloc_node, (out_node, graph, dependencies, count, params));
}

cxr_error cxr_cudaGraphMemAllocNodeGetParams(CUgraphNode node,
                                             cxu_mem_alloc_node_params *out_params)
{
    CX_CUDART_PASS(graph_mem_alloc_node_get_params, (node, out_params));
}

cxr_error cxr_cudaGraphAddMemFreeNode(CUgraphNode *out_node, CUgraph graph,
                                      const CUgraphNode *dependencies, size_t count, void *pointer)
{
    CX_CUDART_PASS(graph_add_mem_free_node,
                   (out_node, graph, dependencies, count, cx_cudart_address(pointer)));
}

cxr_error cxr_cudaGraphMemFreeNodeGetParams(CUgraphNode node, void *out_pointer)
{
    CX_CUDART_PASS(graph_mem_free_node_get_params, (node, (CUdeviceptr *)out_pointer));
}

/* ---- any node ---- */

_Static_assert(sizeof(cxr_graph_node_params) == sizeof(cxu_graph_node_params), "the same struct");

/* Kernels and copies are told in the runtime's way; the rest has the driver's layout, and a context
 * behind it where the driver asks for one. */
static cxr_error to_driver_node(const cxr_graph_node_params *params,
                                cxu_graph_node_params *out_params)
{
    if (params == NULL)
        return CXR_INVALID_VALUE;
    memcpy(out_params, params, sizeof *out_params);
    switch (params->type) {
    case CXU_GRAPH_NODE_TYPE_KERNEL:
        memset(&out_params->of, 0, sizeof out_params->of);
        return to_driver_kernel(&params->of.kernel, &out_params->of.kernel);
    case CXU_GRAPH_NODE_TYPE_MEMCPY:
        memset(&out_params->of, 0, sizeof out_params->of);
        out_params->of.copy.flags = params->of.copy.flags;
        out_params->of.copy.context = current();
        return cx_cudart_copy_3d(&params->of.copy.params, &out_params->of.copy.params);
    case CXU_GRAPH_NODE_TYPE_MEMSET:
        out_params->of.fill.context = current();
        return CXR_SUCCESS;
    case CXU_GRAPH_NODE_TYPE_CONDITIONAL:
        out_params->of.condition.context = current();
        return CXR_SUCCESS;
    default:
        return CXR_SUCCESS;
    }
}

/* What the driver writes: an allocation's address, the bodies of a condition. */
static void from_driver_node(const cxu_graph_node_params *made, cxr_graph_node_params *params)
{
    if (made->type == CXU_GRAPH_NODE_TYPE_MEM_ALLOC)
        params->of.alloc.address = made->of.alloc.address;
    if (made->type == CXU_GRAPH_NODE_TYPE_CONDITIONAL)
        params->of.condition.bodies = made->of.condition.bodies;
}

cxr_error cxr_cudaGraphAddNode_v2(CUgraphNode *out_node, CUgraph graph,
                                  const CUgraphNode *dependencies, const cxu_graph_edge_data *edges,
                                  size_t count, cxr_graph_node_params *params)
{
    const cx_driver_table *driver;
    cxu_graph_node_params of_driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = to_driver_node(params, &of_driver);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->graph_add_node(out_node, graph, dependencies, edges, count,
                                                  &of_driver);
    if (error == CXR_SUCCESS)
        from_driver_node(&of_driver, params);
    return error;
}

cxr_error cxr_cudaGraphAddNode(CUgraphNode *out_node, CUgraph graph,
                               const CUgraphNode *dependencies, size_t count,
                               cxr_graph_node_params *params)
{
    return cxr_cudaGraphAddNode_v2(out_node, graph, dependencies, NULL, count, params);
}

cxr_error cxr_cudaGraphNodeSetParams(CUgraphNode node, cxr_graph_node_params *params)
{
    const cx_driver_table *driver;
    cxu_graph_node_params of_driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = to_driver_node(params, &of_driver);
    return error != CXR_SUCCESS ? error
                                : (cxr_error)driver->graph_node_set_params(node, &of_driver);
}

cxr_error cxr_cudaGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                         cxr_graph_node_params *params)
{
    const cx_driver_table *driver;
    cxu_graph_node_params of_driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = to_driver_node(params, &of_driver);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->graph_exec_node_set_params(exec, node, &of_driver);
}
