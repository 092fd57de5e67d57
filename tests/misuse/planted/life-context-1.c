/* SPDX-License-Identifier: MIT */
/*
 * A program makes a context for its work and never destroys it. The system takes it back at the
 * end; a program that does this for each job runs out of memory on the device.
 *
 * options: --leaks
 * expect: LIFE-CONTEXT
 * at: open_gpu
 * origin: made open_gpu
 */
#include "misuse.h"

NAMED void open_gpu(void)
{
    CUcontext context;
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
