/* SPDX-License-Identifier: MIT */
/*
 * A buffer grows into a new allocation, and the old one is forgotten: its address was only in the
 * variable that got the new one.
 *
 * options: --leaks --ignore LIFE-CONTEXT
 * expect: LIFE-MEMORY
 * at: grow
 */
#include "misuse.h"

static CUdeviceptr buffer;
static size_t size;

NAMED void grow(size_t wanted)
{
    CUdeviceptr before = buffer;
    MUST(cuMemAlloc(&buffer, wanted));
    if (size != 0) {
        MUST(cuMemcpyDtoD(buffer, before, size));
    }
    size = wanted;
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    for (size_t bytes = 1024; bytes <= 8192; bytes *= 2)
        grow(bytes);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(buffer));
    return 0;
}
