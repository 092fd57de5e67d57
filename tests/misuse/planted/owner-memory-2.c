/* SPDX-License-Identifier: MIT */
/*
 * A program opens the memory of the first GPU to the second and then has the first fill memory of
 * the second. Access has one direction, and this is the other one.
 *
 * expect: OWNER-MEMORY
 * at: fill_from
 * origin: made main
 * says: 64 bytes of device memory belongs to the primary context of GPU 1
 * origin: pushed fill_from
 * says: current there: the primary context of GPU 0, pushed by owner-memory-2
 */
#include "misuse.h"

static CUcontext contexts[2];

/* The context may reach the memory of the other one. */
NAMED void open_to(CUcontext context, CUcontext other)
{
    MUST(cuCtxPushCurrent(context));
    MUST(cuCtxEnablePeerAccess(other, 0));
    MUST(cuCtxPopCurrent(NULL));
}

NAMED int fill_from(CUcontext context, CUdeviceptr memory)
{
    MUST(cuCtxPushCurrent(context));
    CUresult result = cuMemsetD32(memory, 1, 16);
    MUST(cuCtxPopCurrent(NULL));
    return result == CUDA_SUCCESS;
}

int main(void)
{
    CUdeviceptr memory;
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
    MUST(cuCtxPushCurrent(contexts[1]));
    MUST(cuMemAlloc(&memory, 64));
    MUST(cuCtxPopCurrent(NULL));
    open_to(contexts[1], contexts[0]);
    puts(fill_from(contexts[0], memory) ? "filled" : "not filled");
    MUST(cuMemFree(memory));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
