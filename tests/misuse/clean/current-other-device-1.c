/* SPDX-License-Identifier: MIT */
/* The function pushes the context of the GPU that it is told. The copy runs where its memory is. */
#include "misuse.h"

enum { BYTES = 4096 };
static CUcontext contexts[2];

NAMED CUstream stream_on(CUdevice device)
{
    CUstream stream;
    MUST(cuCtxPushCurrent(contexts[device]));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuCtxPopCurrent(NULL));
    return stream;
}

NAMED CUdeviceptr allocate_on(CUdevice device)
{
    CUdeviceptr pointer;
    MUST(cuCtxPushCurrent(contexts[device]));
    MUST(cuMemAlloc(&pointer, BYTES));
    MUST(cuCtxPopCurrent(NULL));
    return pointer;
}

int main(void)
{
    void *data;
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
    MUST(cuCtxPushCurrent(contexts[0]));
    MUST(cuMemAllocHost(&data, BYTES));
    CUstream stream = stream_on(1);
    CUdeviceptr buffer = allocate_on(1);
    MUST(cuMemcpyHtoDAsync(buffer, data, BYTES, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFree(buffer));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFreeHost(data));
    MUST(cuCtxPopCurrent(NULL));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
