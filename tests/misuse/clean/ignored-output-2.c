/* SPDX-License-Identifier: MIT */
/*
 * A buffer grows by a larger allocation and, if there is one, a free of what it had. Where there
 * is none, it keeps its memory and says so.
 */
#include "misuse.h"

static CUdeviceptr buffer;

NAMED int grow(size_t bytes)
{
    CUdeviceptr larger;
    if (cuMemAlloc(&larger, bytes) != CUDA_SUCCESS)
        return 0;
    if (buffer != 0)
        MUST(cuMemFree(buffer));
    buffer = larger;
    return 1;
}

NAMED int store(unsigned value)
{
    return cuMemsetD32(buffer, value, 16) == CUDA_SUCCESS;
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    int stored = grow(64) && store(1);
    if (!grow((size_t)1 << 50))
        fputs("no more memory\n", stderr);
    stored += store(2);
    printf("stored %d of 2\n", stored);
    MUST(cuMemFree(buffer));
    MUST(cuCtxDestroy(context));
    return 0;
}
