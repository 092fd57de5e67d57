/* SPDX-License-Identifier: MIT */
/*
 * A server creates a context once, which stays current for all requests.
 */
#include "misuse.h"

NAMED void serve(int request)
{
    CUdeviceptr memory;
    MUST(cuMemAlloc(&memory, 4096));
    MUST(cuMemsetD8(memory, (unsigned char)request, 4096));
    MUST(cuMemFree(memory));
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    for (int request = 0; request < 70; request++)
        serve(request);
    MUST(cuCtxDestroy(context));
    return 0;
}
