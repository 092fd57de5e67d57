#include "guest.h"

static CUresult work(void)
{
    CUdeviceptr memory;
    unsigned char byte = 0;
    CUresult result = cuMemAlloc(&memory, 64), freed;
    if (result != CUDA_SUCCESS)
        return result;
    result = cuMemsetD8(memory, 7, 64);
    if (result == CUDA_SUCCESS)
        result = cuMemcpyDtoH(&byte, memory, 1);
    freed = cuMemFree(memory);
    return result != CUDA_SUCCESS ? result : freed;
}

CUresult guest_polite(int ordinal)
{
    CUdevice device;
    CUcontext context, popped;
    CUresult result = cuInit(0);
    if (result == CUDA_SUCCESS)
        result = cuDeviceGet(&device, ordinal);
    if (result == CUDA_SUCCESS)
        result = cuDevicePrimaryCtxRetain(&context, device);
    if (result != CUDA_SUCCESS)
        return result;
    result = cuCtxPushCurrent(context);
    if (result == CUDA_SUCCESS) {
        result = work();
        CUresult back = cuCtxPopCurrent(&popped);
        result = result != CUDA_SUCCESS ? result : back;
    }
    CUresult released = cuDevicePrimaryCtxRelease(device);
    return result != CUDA_SUCCESS ? result : released;
}
