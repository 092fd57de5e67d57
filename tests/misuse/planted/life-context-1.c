/* SPDX-License-Identifier: MIT */
/*
 * A program creates a context for its work and never destroys it. The system frees it when the
 * process ends; a program that does this for each job runs out of memory on the device.
 *
 * options: --leaks
 * expect: LIFE-CONTEXT
 * at: open_gpu
 * origin: made open_gpu
 */
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
    return 0;
}
