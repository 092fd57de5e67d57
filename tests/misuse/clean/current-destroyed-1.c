/* SPDX-License-Identifier: MIT */
/*
 * The function first pops the inner context. The outer one is then on top, leaves the stack when
 * it is destroyed, and is replaced by the inner one.
 */
#include "misuse.h"

NAMED void shut_down(CUcontext outer, CUcontext inner)
{
    MUST(cuCtxPushCurrent(inner));
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuCtxDestroy(outer));
    MUST(cuCtxSetCurrent(inner));
}

NAMED CUresult allocate(CUdeviceptr *pointer)
{
    return cuMemAlloc(pointer, 64);
}

int main(void)
{
    CUcontext outer, inner;
    CUdeviceptr pointer;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&inner, 1));
    MUST(cuCtxCreate(&outer, 0, 0));
    shut_down(outer, inner);
    if (allocate(&pointer) == CUDA_SUCCESS)
        MUST(cuMemFree(pointer));
    else
        fputs("no memory\n", stderr);
    MUST(cuCtxSetCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(1));
    return 0;
}
