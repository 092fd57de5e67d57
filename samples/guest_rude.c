#include "guest.h"

#include <stddef.h>

static CUdevice own_device;
static CUcontext own_context;

CUresult guest_rude_open(int ordinal)
{
    CUresult result = cuInit(0);
    if (result == CUDA_SUCCESS)
        result = cuDeviceGet(&own_device, ordinal);
    return result == CUDA_SUCCESS ? cuDevicePrimaryCtxRetain(&own_context, own_device) : result;
}

CUresult guest_rude_set(void)
{
    return cuCtxSetCurrent(own_context);
}

CUresult guest_rude_push(void)
{
    return cuCtxPushCurrent(own_context);
}

CUresult guest_rude_pop(void)
{
    CUcontext popped;
    return cuCtxPopCurrent(&popped);
}

CUresult guest_rude_close(void)
{
    return cuDevicePrimaryCtxRelease(own_device);
}
