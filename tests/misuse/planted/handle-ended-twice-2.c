/* SPDX-License-Identifier: MIT */
/*
 * A program destroys its context where the work fails, and again at its end, which every way out
 * comes by.
 *
 * expect: HANDLE-ENDED-TWICE
 * at: close_gpu
 * origin: made main
 * origin: ended work
 * says: context 1 of GPU 0
 * says: context 1 of GPU 0 was ended by cuCtxDestroy_v2
 */
#include "misuse.h"

NAMED int work(CUcontext context, size_t bytes)
{
    CUdeviceptr buffer;
    if (cuMemAlloc(&buffer, bytes) != CUDA_SUCCESS) {
        fputs("no memory\n", stderr);
        MUST(cuCtxDestroy(context));
        return 0;
    }
    MUST(cuMemFree(buffer));
    return 1;
}

NAMED int close_gpu(CUcontext context)
{
    return cuCtxDestroy(context) == CUDA_SUCCESS;
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    int worked = work(context, 4096) && work(context, (size_t)1 << 50);
    int closed = close_gpu(context);
    printf("worked: %d, closed: %d\n", worked, closed);
    return 0;
}
