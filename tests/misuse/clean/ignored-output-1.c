/* SPDX-License-Identifier: MIT */
/* The program looks at the result of the allocation, and fills only memory that is there. */
#include "misuse.h"

NAMED CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr memory = 0;
    if (cuMemAlloc(&memory, bytes) != CUDA_SUCCESS)
        return 0;
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
    if (memory != 0)
        clear(memory, bytes);
    MUST(cuCtxDestroy(context));
    return 0;
}
