/* SPDX-License-Identifier: MIT */
/*
 * A program asks for the free memory, pops the primary context, and releases it last.
 */
#include "misuse.h"

NAMED size_t free_memory(void)
{
    size_t left = 0, total;
    return cuMemGetInfo(&left, &total) == CUDA_SUCCESS ? left : 0;
}

int main(void)
{
    CUcontext context;
    CUdeviceptr buffer;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemAlloc(&buffer, 1 << 20));
    MUST(cuMemFree(buffer));
    printf("%zu MiB are free\n", free_memory() >> 20);
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
