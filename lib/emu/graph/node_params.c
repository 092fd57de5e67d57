#include "emu/graph/node_params.h"
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/memory/array.h"
#include "emu/schedule/event.h"
#include "emu/schedule/host_function.h"

static cxu_result request_copy(const cxu_memcpy_3d *descriptor, const cx_emu_device *device,
                               uint64_t latest, cx_emu_transfer *room,
                               cx_emu_work_request *out_request)
{
    cx_emu_copy copy;
    cxu_result result = cx_emu_copy_of_3d(descriptor, &copy);

    if (result != CXU_SUCCESS)
        return result;
    if (copy.width_bytes == 0 || copy.height == 0 || copy.depth == 0)
        return CXU_INVALID_VALUE;
    return cx_emu_copy_request(&copy, device, latest, room, out_request);
}

static cxu_result request_fill(const cxu_memset_node_params *shape, const cx_emu_context *context,
                               uint64_t latest, cx_emu_painting *room,
                               cx_emu_work_request *out_request)
{
    if (shape->width == 0 || shape->height == 0)
        return CXU_INVALID_VALUE;
    return cx_emu_fill_request(shape, context, latest, room, out_request);
}

/* Waits for the event's present record, not for a later one. */
static cxu_result request_event(const cx_emu_node_params *node_params,
                                cx_emu_node_params_room *room, cx_emu_work_request *out_request)
{
    cx_emu_event *event;
    cxu_result result = cx_emu_event_find(node_params->of.event, &event);

    if (result != CXU_SUCCESS)
        return result;
    if (node_params->type == CXU_GRAPH_NODE_TYPE_EVENT_RECORD) {
        room->record = (cx_emu_shared_record){.shared = event->shared};
        cx_emu_shared_record_request(&room->record, out_request);
        return CXU_SUCCESS;
    }
    if (event->captured)
        return CXU_CAPTURED_EVENT;
    cx_emu_event_wait_request(event, event->context, &room->wait, out_request);
    return CXU_SUCCESS;
}

cxu_result cx_emu_node_params_request(const cx_emu_node_params *node_params, uint64_t latest,
                                      cx_emu_node_params_room *room,
                                      cx_emu_work_request *out_request)
{
    *out_request = (cx_emu_work_request){.kind = CX_EMU_WORK_LOCKED};
    if (node_params->context != NULL &&
        cx_emu_context_id(node_params->context) != node_params->context_id)
        return CXU_CONTEXT_IS_DESTROYED;
    switch (node_params->type) {
    case CXU_GRAPH_NODE_TYPE_MEMCPY:
        return request_copy(&node_params->of.copy, node_params->context->device, latest,
                            &room->transfer, out_request);
    case CXU_GRAPH_NODE_TYPE_MEMSET:
        return request_fill(&node_params->of.fill, node_params->context, latest, &room->painting,
                            out_request);
    case CXU_GRAPH_NODE_TYPE_KERNEL:
        return cx_emu_launch_request(&node_params->of.kernel, &room->run, out_request);
    case CXU_GRAPH_NODE_TYPE_HOST:
        if (node_params->of.host.function == NULL)
            return CXU_SUCCESS; /* nothing to call */
        room->host = node_params->of.host;
        *out_request = cx_emu_host_request(&room->host);
        return CXU_SUCCESS;
    case CXU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return cx_emu_values_request(node_params->of.values, node_params->context, &room->values,
                                     out_request);
    case CXU_GRAPH_NODE_TYPE_CONDITIONAL:
        return cx_emu_condition_request(node_params->of.condition, node_params->context,
                                        &room->condition, out_request);
    case CXU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CXU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return request_event(node_params, room, out_request);
    default:
        return CXU_SUCCESS;
    }
}

void cx_emu_node_params_retain(const cx_emu_node_params *node_params)
{
    if (node_params->type == CXU_GRAPH_NODE_TYPE_KERNEL)
        cx_emu_arguments_retain(node_params->of.kernel.arguments);
    if (node_params->type == CXU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        cx_emu_values_retain(node_params->of.values);
    if (node_params->type == CXU_GRAPH_NODE_TYPE_MEM_ALLOC ||
        node_params->type == CXU_GRAPH_NODE_TYPE_MEM_FREE)
        cx_emu_block_retain(node_params->of.block);
}

void cx_emu_node_params_drop(const cx_emu_node_params *node_params)
{
    if (node_params->type == CXU_GRAPH_NODE_TYPE_KERNEL)
        cx_emu_arguments_drop(node_params->of.kernel.arguments);
    if (node_params->type == CXU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        cx_emu_values_drop(node_params->of.values);
    if (node_params->type == CXU_GRAPH_NODE_TYPE_MEM_ALLOC ||
        node_params->type == CXU_GRAPH_NODE_TYPE_MEM_FREE)
        cx_emu_block_drop(node_params->of.block);
}

void cx_emu_node_params_assign(cx_emu_node_params *own, const cx_emu_node_params *node_params)
{
    const cx_emu_node_params before = *own;

    cx_emu_changes++;
    cx_emu_node_params_retain(node_params);
    *own = *node_params;
    cx_emu_node_params_drop(&before);
}

cxu_result cx_emu_node_params_check(const cx_emu_node_params *node_params)
{
    cx_emu_node_params_room room;
    cx_emu_work_request request;

    return cx_emu_node_params_request(node_params, 0, &room, &request);
}

cxu_result cx_emu_node_params_set_context(cx_emu_node_params *node_params, CUcontext context)
{
    cxu_result result = cx_emu_context_find(context, &node_params->context);

    if (result == CXU_SUCCESS)
        node_params->context_id = cx_emu_context_id(node_params->context);
    return result;
}

/* ---- updates ---- */

/* The memory of one side of a copy. */
static const cx_emu_allocation *memory_of(cxu_memory_type type, const void *host,
                                          CUdeviceptr device, CUarray handle)
{
    cx_emu_array *array;

    if (type == CXU_MEMORYTYPE_ARRAY)
        return cx_emu_array_find(handle, &array) == CXU_SUCCESS ? array->memory : NULL;
    return cx_emu_allocation_find(type == CXU_MEMORYTYPE_HOST ? (uintptr_t)host : device, 1);
}

#define MEMORY_OF(copy, side)                                                       \
    memory_of((copy)->side##_type, (copy)->side##_host, (copy)->side##_device,      \
              (copy)->side##_array)

/* The owner of freed memory is unknown. */
static bool same_owner(const cx_emu_allocation *one, const cx_emu_allocation *other)
{
    return one == NULL || other == NULL ||
           (one->device == other->device && one->context == other->context);
}

static bool copies_compatible(const cxu_memcpy_3d *before, const cxu_memcpy_3d *after)
{
    return before->source_type == after->source_type &&
           before->destination_type == after->destination_type &&
           same_owner(MEMORY_OF(before, source), MEMORY_OF(after, source)) &&
           same_owner(MEMORY_OF(before, destination), MEMORY_OF(after, destination));
}

/* For fills of several rows, only the value and the address may change. */
static bool fills_compatible(const cxu_memset_node_params *before,
                             const cxu_memset_node_params *after)
{
    if (before->height != after->height || before->element_bytes != after->element_bytes)
        return false;
    if (before->height > 1 &&
        (before->width != after->width || before->pitch_bytes != after->pitch_bytes))
        return false;
    return same_owner(cx_emu_allocation_find(before->destination, 1),
                      cx_emu_allocation_find(after->destination, 1));
}

/* Nothing is known of a function that is gone. */
static bool kernels_compatible(const cx_emu_launch *before, const cx_emu_launch *after)
{
    cx_emu_context *one, *other;

    return cx_emu_launch_context(before, &one) != CXU_SUCCESS ||
           cx_emu_launch_context(after, &other) != CXU_SUCCESS || one == other;
}

bool cx_emu_node_params_compatible(const cx_emu_node_params *before,
                                   const cx_emu_node_params *after)
{
    if (before->context_id != after->context_id)
        return false;
    switch (before->type) {
    case CXU_GRAPH_NODE_TYPE_MEMCPY:
        return copies_compatible(&before->of.copy, &after->of.copy);
    case CXU_GRAPH_NODE_TYPE_KERNEL:
        return kernels_compatible(&before->of.kernel, &after->of.kernel);
    case CXU_GRAPH_NODE_TYPE_MEMSET:
        return fills_compatible(&before->of.fill, &after->of.fill);
    case CXU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CXU_GRAPH_NODE_TYPE_MEM_FREE:
        return before->of.block == after->of.block;
    case CXU_GRAPH_NODE_TYPE_CONDITIONAL:
        return before->of.condition->handle == after->of.condition->handle;
    default:
        return true;
    }
}
