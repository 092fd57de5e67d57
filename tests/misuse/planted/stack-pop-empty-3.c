/* SPDX-License-Identifier: MIT */
/*
 * A request is closed by its error path, which pops the context, and again by the caller, which
 * pops it too.
 *
 * expect: STACK-POP-EMPTY
 * at: close_request
 * origin: emptied abandon
 */
#include "gpu.h"

NAMED void abandon(void)
{
    CUcontext context;
    MUST(cuCtxPopCurrent(&context));
}

NAMED CUresult close_request(void)
{
    CUcontext context;
    return cuCtxPopCurrent(&context);
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    abandon();
    puts(close_request() == CUDA_SUCCESS ? "closed" : "not open");
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
