/* SPDX-License-Identifier: MIT */
/*
 * A program clears the buffers of both GPUs with one context current. Fills reach the memory of
 * their own GPU; that of the other was not opened to it, and its buffer keeps its old bytes.
 *
 * expect: OWNER-MEMORY
 * at: clear
 * origin: made allocate
 * origin: pushed main
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
    return cuMemsetD8(buffers[device], 0, BYTES) == CUDA_SUCCESS;
}

int main(void)
{
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++) {
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
        allocate(i);
    }
    MUST(cuCtxPushCurrent(contexts[0]));
    for (int i = 0; i < 2; i++)
        printf("buffer %d: %s\n", i, clear(i) ? "clear" : "as it was");
    MUST(cuCtxPopCurrent(NULL));
    for (int i = 0; i < 2; i++) {
        MUST(cuMemFree(buffers[i]));
        MUST(cuDevicePrimaryCtxRelease(i));
    }
    return 0;
}
