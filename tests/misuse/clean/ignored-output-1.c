/* SPDX-License-Identifier: MIT */
/*
 * A program looks whether its memory was allocated, and takes less if it was not.
 */
#include "misuse.h"

NAMED CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr memory = 0;
    return cuMemAlloc(&memory, bytes) == CUDA_SUCCESS ? memory : 0;
}

NAMED int clear(CUdeviceptr memory, size_t bytes)
{
    return cuMemsetD8(memory, 0, bytes) == CUDA_SUCCESS;
}

int main(void)
{
    size_t bytes = (size_t)1 << 50;
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    CUdeviceptr memory;
    while ((memory = allocate(bytes)) == 0)
        bytes /= 1024;
    if (!clear(memory, bytes))
        fputs("wrong memory?\n", stderr);
    MUST(cuMemFree(memory));
    MUST(cuCtxDestroy(context));
    return 0;
}
