/* SPDX-License-Identifier: MIT */
/*
 * A server creates a context once and pushes it for each request.
 */
#include "misuse.h"

NAMED void serve(CUcontext context, int request)
{
    CUdeviceptr memory;
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemAlloc(&memory, 4096));
    MUST(cuMemsetD8(memory, (unsigned char)request, 4096));
    MUST(cuMemFree(memory));
    MUST(cuCtxPopCurrent(&context));
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuCtxPopCurrent(&context));
    for (int request = 0; request < 20; request++)
        serve(context, request);
    MUST(cuCtxDestroy(context));
    return 0;
}
