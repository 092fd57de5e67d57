/* SPDX-License-Identifier: MIT */
/*
 * A function destroys the context of its caller while another context is on top of it. The
 * destroyed context stays on the stack: after the pop it is current again, and the next call
 * fails.
 *
 * expect: CURRENT-DESTROYED
 * at: allocate
 * origin: made main
 * origin: ended shut_down
 */
#include "misuse.h"

NAMED void shut_down(CUcontext outer, CUcontext inner)
{
    MUST(cuCtxPushCurrent(inner));
    MUST(cuCtxSynchronize());
    MUST(cuCtxDestroy(outer));
    MUST(cuCtxPopCurrent(NULL));
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
