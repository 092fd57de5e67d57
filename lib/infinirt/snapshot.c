/* Memory of a device, by itself and as part of a snapshot of its resources. */
#include "infinirt/device.h"

static infiniStatus_t look(infiniDevice_t type, int index, size_t *out_free_bytes,
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
    return look(device, device_id, free_bytes, total_bytes);
}

infiniStatus_t infinirtGetDeviceResourceSnapshot(infiniDevice_t device, int device_id,
                                                 infinirtDeviceResourceSnapshot_t *snapshot)
{
    size_t free_bytes, total_bytes;
    if (snapshot == NULL)
        return INFINI_STATUS_NULL_POINTER;
    infiniStatus_t status = look(device, device_id, &free_bytes, &total_bytes);
    if (status == INFINI_STATUS_SUCCESS)
        *snapshot = (infinirtDeviceResourceSnapshot_t){
            .device_type = device,
            .device_id = device_id,
            .valid_fields = INFINIRT_RESOURCE_FIELD_MEMORY_CAPACITY,
            .free_bytes = free_bytes,
            .total_bytes = total_bytes,
            .used_bytes = total_bytes - free_bytes,
        };
    return status;
}
