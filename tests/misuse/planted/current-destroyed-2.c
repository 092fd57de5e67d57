/* SPDX-License-Identifier: MIT */
/*
 * A program releases the primary context while it is current, and asks for the free memory
 * afterwards. The last release has ended the context, whose entry stays on the stack: the query
 * fails.
 *
 * expect: CURRENT-DESTROYED
 * at: free_memory
 * origin: ended main
 * origin: made main
 * says: the primary context of GPU 0
 * says: the primary context of GPU 0 was ended by cuDevicePrimaryCtxRelease_v2
 * origin: pushed main
 * says: current there: the primary context of GPU 0, pushed by current-destroyed-2
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
    MUST(cuDevicePrimaryCtxRelease(0));
    printf("%zu MiB are free\n", free_memory() >> 20);
    return 0;
}
