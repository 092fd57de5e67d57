/* SPDX-License-Identifier: MIT */
/*
 * A function gives the primary context, which it retains when it is first asked and which the
 * program releases once.
 */
#include "misuse.h"

NAMED CUcontext context_of(CUdevice device)
{
    static CUcontext context;
    if (context == NULL)
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
