/* SPDX-License-Identifier: MIT */
/*
 * A function gives the primary context and retains it for each of its callers. The program
 * releases it once, at its end: all other retains are owed.
 *
 * options: --leaks
 * expect: PRIMARY-KEPT
 * at: context_of
 * origin: made context_of
 * says: retain of a primary context 1 of GPU 0
 */
#include "misuse.h"

NAMED CUcontext context_of(CUdevice device)
{
    CUcontext context;
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    return context;
}

NAMED void fill(CUdeviceptr pointer)
{
    MUST(cuCtxPushCurrent(context_of(0)));
    MUST(cuMemsetD8(pointer, 0, 64));
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
}

NAMED CUdeviceptr allocate(void)
{
    CUdeviceptr pointer;
    MUST(cuCtxPushCurrent(context_of(0)));
    MUST(cuMemAlloc(&pointer, 64));
    MUST(cuCtxPopCurrent(NULL));
    return pointer;
}

int main(void)
{
    MUST(cuInit(0));
    CUdeviceptr pointer = allocate();
    fill(pointer);
    MUST(cuMemFree(pointer));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
