/* SPDX-License-Identifier: MIT */
/*
 * The old allocation is freed when its bytes are copied. At its end the program destroys the
 * context.
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
        MUST(cuMemFree(before));
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
    MUST(cuCtxDestroy(context));
    return 0;
}
