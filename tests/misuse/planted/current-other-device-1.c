/* SPDX-License-Identifier: MIT */
/*
 * A helper is to make a stream on the GPU that it is told, and makes it in the context that is
 * current: the stream is on GPU 0 whatever is asked for. The copy works, by way of the host and
 * at a fraction of the speed.
 *
 * expect: CURRENT-OTHER-DEVICE
 * at: upload
 * origin: made allocate_on
 * origin: made stream_on
 */
#include "misuse.h"

enum { BYTES = 4096 };
static CUcontext contexts[2];

NAMED CUstream stream_on(CUdevice device)
{
    CUstream stream;
    (void)device; /* forgotten */
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
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

NAMED void upload(CUdeviceptr destination, const void *source, CUstream stream)
{
    MUST(cuMemcpyHtoDAsync(destination, source, BYTES, stream));
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
    upload(buffer, data, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFree(buffer));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFreeHost(data));
    MUST(cuCtxPopCurrent(NULL));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
