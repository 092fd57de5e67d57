#include "infinirt/device.h"

#include <ctxrt/runtime.h>

#define SAME_TYPE(name, of_ctxrt)                                                                 \
    _Static_assert((int)INFINI_DEVICE_##name == (int)CTXRT_DEVICE_##of_ctxrt, #name)
SAME_TYPE(CPU, CPU);
SAME_TYPE(NVIDIA, CUDA);
SAME_TYPE(CAMBRICON, CAMBRICON);
SAME_TYPE(ASCEND, ASCEND);
SAME_TYPE(METAX, METAX);
SAME_TYPE(MOORE, MOORE);
SAME_TYPE(ILUVATAR, ILUVATAR);
SAME_TYPE(KUNLUN, KUNLUN);
SAME_TYPE(HYGON, HYGON);
SAME_TYPE(QY, QY);
SAME_TYPE(ALI, ALI);
SAME_TYPE(TYPE_COUNT, TYPE_COUNT);

ctxrt_status cx_device_begin(ctxrt_device *out_device)
{
    ctxrt_status status = ctxrt_device_get(out_device);
    if (__builtin_expect(status == CTXRT_ERROR_NO_DEVICE, 0)) {
        *out_device = CTXRT_CPU(0);
        status = ctxrt_device_set(*out_device);
    }
    return status;
}

ctxrt_status cx_runtime_begin(void)
{
    int count;
    return ctxrt_device_count(CTXRT_DEVICE_CPU, &count);
}

bool cx_release_begin(infiniStatus_t *out_status)
{
    ctxrt_status status = cx_runtime_begin();
    *out_status = cx_infini_status(status == CTXRT_ERROR_SHUTDOWN ? CTXRT_SUCCESS : status);
    return status == CTXRT_SUCCESS;
}

infiniStatus_t cx_device_status(ctxrt_status status, infiniDevice_t type)
{
    int count;
    if (status == CTXRT_ERROR_INVALID_DEVICE &&
        ((unsigned int)type >= INFINI_DEVICE_TYPE_COUNT ||
         (ctxrt_device_count((ctxrt_device_type)type, &count) == CTXRT_SUCCESS && count == 0)))
        return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
    return cx_infini_status(status);
}

infiniStatus_t infinirtInit(void)
{
    return cx_infini_status(ctxrt_init(NULL));
}

infiniStatus_t infinirtGetAllDeviceCount(int *count_array)
{
    return cx_infini_status(ctxrt_device_count_all(count_array));
}

infiniStatus_t infinirtGetDeviceCount(infiniDevice_t device, int *count)
{
    if (count != NULL && (unsigned int)device >= INFINI_DEVICE_TYPE_COUNT)
        return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
    return cx_infini_status(ctxrt_device_count((ctxrt_device_type)device, count));
}

infiniStatus_t infinirtSetDevice(infiniDevice_t device, int device_id)
{
    ctxrt_device id = ctxrt_device_of((ctxrt_device_type)device, device_id);
    return cx_device_status(ctxrt_device_set(id), device);
}

infiniStatus_t infinirtGetDevice(infiniDevice_t *device_ptr, int *device_id_ptr)
{
    ctxrt_device device = CTXRT_CPU(0);
    if (device_ptr == NULL && device_id_ptr == NULL)
        return INFINI_STATUS_NULL_POINTER;
    ctxrt_status status = ctxrt_device_get(&device);
    if (status != CTXRT_SUCCESS && status != CTXRT_ERROR_NO_DEVICE)
        return cx_infini_status(status);
    if (device_ptr != NULL)
        *device_ptr = (infiniDevice_t)device.type;
    if (device_id_ptr != NULL)
        *device_id_ptr = device.index;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtDeviceSynchronize(void)
{
    ctxrt_device device;
    ctxrt_status status = cx_device_begin(&device);
    return cx_infini_status(status == CTXRT_SUCCESS ? ctxrt_device_synchronize() : status);
}
