/* SPDX-License-Identifier: MIT */
/*
 * A context is destroyed after its stream and its memory.
 */
#include "misuse.h"

enum { BUFFERS = 3 };

NAMED void finish(CUcontext context)
{
    MUST(cuCtxDestroy(context));
}

NAMED void make(CUstream *out_stream, CUdeviceptr *buffers)
{
    MUST(cuStreamCreate(out_stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < BUFFERS; i++)
        MUST(cuMemAlloc(&buffers[i], 4096));
}

NAMED void clean_up(CUstream stream, const CUdeviceptr *buffers)
{
    (void)cuStreamDestroy(stream);
    for (int i = 0; i < BUFFERS; i++)
        (void)cuMemFree(buffers[i]);
}

int main(void)
{
    CUcontext context;
    CUstream stream;
    CUdeviceptr buffers[BUFFERS];
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    make(&stream, buffers);
    clean_up(stream, buffers);
    finish(context);
    return 0;
}
