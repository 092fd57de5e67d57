/* SPDX-License-Identifier: MIT */
/*
 * A program does not look whether its allocation succeeded, and fills the memory that it takes to
 * be there. The fill fails with an error that says nothing about a lack of memory.
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

NAMED void clear(CUdeviceptr memory, size_t bytes)
{
    if (cuMemsetD8(memory, 0, bytes) != CUDA_SUCCESS)
        fputs("the memory was not cleared\n", stderr);
}

int main(void)
{
    const size_t bytes = (size_t)1 << 50;
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    CUdeviceptr memory = allocate(bytes);
    clear(memory, bytes);
    MUST(cuCtxDestroy(context));
    return 0;
}
