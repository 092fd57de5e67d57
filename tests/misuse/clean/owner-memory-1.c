/* SPDX-License-Identifier: MIT */
/*
 * A program clears the buffers of both GPUs, each in the context of its GPU.
 */
#include "misuse.h"

enum { BYTES = 256 };
static CUcontext contexts[2];
static CUdeviceptr buffers[2];

NAMED void allocate(int device)
{
    MUST(cuCtxPushCurrent(contexts[device]));
    MUST(cuMemAlloc(&buffers[device], BYTES));
    MUST(cuCtxPopCurrent(NULL));
}

NAMED int clear(int device)
{
    MUST(cuCtxPushCurrent(contexts[device]));
    int done = cuMemsetD8(buffers[device], 0, BYTES) == CUDA_SUCCESS;
    MUST(cuCtxPopCurrent(NULL));
    return done;
}

int main(void)
{
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++) {
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
        allocate(i);
    }
    for (int i = 0; i < 2; i++)
        printf("buffer %d: %s\n", i, clear(i) ? "clear" : "as it was");
    for (int i = 0; i < 2; i++) {
        MUST(cuMemFree(buffers[i]));
        MUST(cuDevicePrimaryCtxRelease(i));
    }
    return 0;
}
