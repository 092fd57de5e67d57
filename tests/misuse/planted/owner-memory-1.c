/* SPDX-License-Identifier: MIT */
/*
 * A program clears the buffers of both GPUs while the context of GPU 0 is current. A fill reaches
 * the memory of its own GPU only, unless access was given: the second buffer keeps its old bytes.
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

NAMED void clear(int device)
{
    if (cuMemsetD8(buffers[device], 0, BYTES) != CUDA_SUCCESS)
        fprintf(stderr, "buffer %d is as it was\n", device);
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
        clear(i);
    MUST(cuCtxPopCurrent(NULL));
    for (int i = 0; i < 2; i++) {
        MUST(cuMemFree(buffers[i]));
        MUST(cuDevicePrimaryCtxRelease(i));
    }
    return 0;
}
