/* Attributes of nodes that launch kernels. */
#include "emu/device/device.h"
#include "emu/graph/graph_node.h"
#include "emu/base/state.h"
#include "emu/report/not_supported.h"

#include <string.h>

static cxu_result find_kernel_node(CUgraphNode handle, cx_emu_node **out_node)
{
    cxu_result result = cx_emu_node_find(handle, out_node);

    if (result == CXU_SUCCESS && (*out_node)->node_params.type != CXU_GRAPH_NODE_TYPE_KERNEL)
        return CXU_INVALID_VALUE;
    return result;
}

static cxu_result read_attribute(const cx_emu_launch *launch, cxu_launch_attribute_id attribute,
                                 cxu_launch_attribute_value *out_value)
{
    switch (attribute) {
    case CXU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        out_value->number = launch->cooperative;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_PRIORITY:
        out_value->number = launch->priority;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        memcpy(out_value->cluster, launch->cluster, sizeof out_value->cluster);
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        out_value->device_node.updatable = 0;
        out_value->device_node.node = NULL;
        return CXU_SUCCESS;
    default:
        return cx_emu_launch_hint_get(&launch->hints, attribute, out_value);
    }
}

static int clamped_priority(int priority)
{
    if (priority < CX_EMU_PRIORITY_GREATEST)
        return CX_EMU_PRIORITY_GREATEST;
    return priority > CX_EMU_PRIORITY_LEAST ? CX_EMU_PRIORITY_LEAST : priority;
}

static cxu_result write_attribute(cx_emu_launch *launch, cxu_launch_attribute_id attribute,
                                  const cxu_launch_attribute_value *value)
{
    switch (attribute) {
    case CXU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        launch->cooperative = value->number != 0;
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_PRIORITY:
        launch->priority = clamped_priority(value->number);
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        memcpy(launch->cluster, value->cluster, sizeof launch->cluster);
        return CXU_SUCCESS;
    case CXU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return value->device_node.updatable
                   ? cx_emu_not_supported("cuGraphKernelNodeSetAttribute",
                                          "a kernel node that kernels update")
                   : CXU_SUCCESS;
    default:
        return cx_emu_launch_hint_set(&launch->hints, attribute, value);
    }
}

cxu_result cx_emu_call_graph_kernel_node_get_attribute(CUgraphNode handle,
                                                       cxu_launch_attribute_id attribute,
                                                       cxu_launch_attribute_value *out_value)
{
    cx_emu_node *node;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_value == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = find_kernel_node(handle, &node);
    if (result == CXU_SUCCESS)
        result = read_attribute(&node->node_params.of.kernel, attribute, out_value);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_kernel_node_set_attribute(CUgraphNode handle,
                                                       cxu_launch_attribute_id attribute,
                                                       const cxu_launch_attribute_value *value)
{
    cx_emu_node *node;
    cx_emu_node_params node_params;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (value == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = find_kernel_node(handle, &node);
    if (result == CXU_SUCCESS) {
        node_params = node->node_params;
        result = write_attribute(&node_params.of.kernel, attribute, value);
    }
    if (result == CXU_SUCCESS)
        result = cx_emu_graph_node_set(handle, &node_params);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_graph_kernel_node_copy_attributes(CUgraphNode destination,
                                                         CUgraphNode source)
{
    cx_emu_node *to, *from;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = find_kernel_node(destination, &to);
    if (result == CXU_SUCCESS)
        result = find_kernel_node(source, &from);
    if (result == CXU_SUCCESS) {
        cx_emu_node_params node_params = to->node_params;

        node_params.of.kernel.cooperative = from->node_params.of.kernel.cooperative;
        node_params.of.kernel.priority = from->node_params.of.kernel.priority;
        node_params.of.kernel.hints = from->node_params.of.kernel.hints;
        memcpy(node_params.of.kernel.cluster, from->node_params.of.kernel.cluster,
               sizeof node_params.of.kernel.cluster);
        result = cx_emu_graph_node_set(destination, &node_params);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}
