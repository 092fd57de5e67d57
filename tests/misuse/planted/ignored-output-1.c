/* SPDX-License-Identifier: MIT */
/*
 * A program does not look whether its memory was allocated and fills what it takes for it. The
 * fill fails with an error that says nothing about memory.
 *
 * expect: IGNORED-OUTPUT
 * at: clear
 * origin: made allocate
 */
#include "misuse.h"

NAMED CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr memory = 0;
    cuMemAlloc(&memory, bytes);
    return memory;
}

NAMED int clear(CUdeviceptr memory, size_t bytes)
{
    return cuMemsetD8(memory, 0, bytes) == CUDA_SUCCESS;
}

int main(void)
{
    const size_t bytes = (size_t)1 << 50;
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    CUdeviceptr memory = allocate(bytes);
    if (!clear(memory, bytes))
        fputs("wrong memory?\n", stderr);
    MUST(cuCtxDestroy(context));
    return 0;
}
