/* The memory of a device: by itself, and as part of a snapshot of its resources. */
#include "infinirt/device.h"

#include <ctxrt/allocator.h>

static infiniStatus_t look_at_device(infiniDevice_t type, int index, size_t *out_free_bytes,
                                     size_t *out_total_bytes)
{
    ctxrt_device device = ctxrt_device_of((ctxrt_device_type)type, index);
    ctxrt_status status = ctxrt_device_memory_info(device, out_free_bytes, out_total_bytes);
    return cx_device_status(status, type);
}

infiniStatus_t infinirtGetMemInfo(infiniDevice_t device, int device_id, size_t *free_bytes,
                                  size_t *total_bytes)
{
    if (free_bytes == NULL || total_bytes == NULL)
        return INFINI_STATUS_NULL_POINTER;
    return look_at_device(device, device_id, free_bytes, total_bytes);
}

/* The bytes that infinirtMalloc's allocator has handed out. */
static infiniStatus_t look_at_allocator(infiniDevice_t type, int index, size_t *out_bytes)
{
    ctxrt_scope scope = {0};
    ctxrt_allocator *allocator;
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    ctxrt_status status =
        ctxrt_scope_enter(ctxrt_device_of((ctxrt_device_type)type, index), &scope);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_allocator_direct(&allocator);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_allocator_describe(allocator, &info);
    ctxrt_status left = ctxrt_scope_leave(&scope);
    *out_bytes = (size_t)info.reserved.current_bytes;
    return cx_device_status(status == CTXRT_SUCCESS ? left : status, type);
}

infiniStatus_t infinirtGetDeviceResourceSnapshot(infiniDevice_t device, int device_id,
                                                 infinirtDeviceResourceSnapshot_t *snapshot)
{
    size_t free_bytes, total_bytes, reserved_bytes;
    if (snapshot == NULL)
        return INFINI_STATUS_NULL_POINTER;
    infiniStatus_t status = look_at_device(device, device_id, &free_bytes, &total_bytes);
    if (status == INFINI_STATUS_SUCCESS)
        status = look_at_allocator(device, device_id, &reserved_bytes);
    if (status == INFINI_STATUS_SUCCESS)
        *snapshot = (infinirtDeviceResourceSnapshot_t){
            .device_type = device,
            .device_id = device_id,
            .valid_fields = INFINIRT_RESOURCE_FIELD_MEMORY_CAPACITY,
            .free_bytes = free_bytes,
            .total_bytes = total_bytes,
            .used_bytes = total_bytes - free_bytes,
            .reserved_bytes = reserved_bytes,
        };
    return status;
}
