/* SPDX-License-Identifier: MIT */
/*
 * A request that its error path has closed is not closed again.
 */
#include "gpu.h"

NAMED void abandon(void)
{
    CUcontext context;
    MUST(cuCtxPopCurrent(&context));
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    abandon();
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
