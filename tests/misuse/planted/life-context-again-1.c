/* SPDX-License-Identifier: MIT */
/*
 * A server creates a context for each request and destroys it again: each request pays for the
 * start of a context.
 *
 * options: --notes
 * expect: LIFE-CONTEXT-AGAIN
 * at: serve
 */
#include "misuse.h"

NAMED void serve(int request)
{
    CUcontext context;
    CUdeviceptr memory;
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuMemAlloc(&memory, 4096));
    MUST(cuMemsetD8(memory, (unsigned char)request, 4096));
    MUST(cuMemFree(memory));
    MUST(cuCtxDestroy(context));
}

int main(void)
{
    MUST(cuInit(0));
    for (int request = 0; request < 70; request++)
        serve(request);
    return 0;
}
