/* SPDX-License-Identifier: MIT */
/*
 * A program retains the primary context and starts to work. To retain makes nothing current,
 * other than cuCtxCreate and other than cudaSetDevice: the first allocation fails.
 *
 * expect: CURRENT-NONE
 * at: allocate
 */
#include "misuse.h"

NAMED CUresult open_gpu(CUdevice *device)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDeviceGet(device, 0));
    return cuDevicePrimaryCtxRetain(&context, *device);
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
    MUST(cuDevicePrimaryCtxRelease(device));
    return 0;
}
