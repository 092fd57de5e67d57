/* SPDX-License-Identifier: MIT */
/* The program destroys the context when the work is done. */
#include "misuse.h"

static CUcontext context;

NAMED void open_gpu(void)
{
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
}

NAMED void work(void)
{
    CUdeviceptr buffer;
    MUST(cuMemAlloc(&buffer, 4096));
    MUST(cuMemsetD8(buffer, 0, 4096));
    MUST(cuMemFree(buffer));
}

int main(void)
{
    open_gpu();
    work();
    MUST(cuCtxDestroy(context));
    return 0;
}
