/* SPDX-License-Identifier: MIT */
/*
 * A buffer grows by a free and a larger allocation, whose result nobody looks at. Where it fails,
 * the variable holds the address of the memory that has been freed.
 *
 * expect: IGNORED-OUTPUT
 * at: store
 * origin: made grow
 * says: cuMemAlloc_v2 had failed: CUDA_ERROR_OUT_OF_MEMORY
 */
#include "misuse.h"

static CUdeviceptr buffer;

NAMED void grow(size_t bytes)
{
    if (buffer != 0)
        MUST(cuMemFree(buffer));
    (void)cuMemAlloc(&buffer, bytes);
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
    grow(64);
    int stored = store(1);
    grow((size_t)1 << 50);
    stored += store(2);
    printf("stored %d of 2\n", stored);
    MUST(cuCtxDestroy(context));
    return 0;
}
