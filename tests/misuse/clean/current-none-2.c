/* SPDX-License-Identifier: MIT */
/*
 * A program retains the primary context and sets it current before it works.
 */
#include "misuse.h"

NAMED CUresult open_gpu(CUdevice *device)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDeviceGet(device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, *device));
    return cuCtxSetCurrent(context);
}

NAMED CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr pointer = 0;
    return cuMemAlloc(&pointer, bytes) == CUDA_SUCCESS ? pointer : 0;
}

int main(void)
{
    CUdevice device;
    MUST(open_gpu(&device));
    CUdeviceptr buffer = allocate(4096);
    puts(buffer != 0 ? "4096 bytes" : "no memory");
    if (buffer != 0)
        MUST(cuMemFree(buffer));
    MUST(cuCtxSetCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(device));
    return 0;
}
