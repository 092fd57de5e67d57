/* SPDX-License-Identifier: MIT */
/* The program destroys the stream when the request is answered, and the context at its end. */
#include "misuse.h"

static CUdeviceptr buffer;

NAMED void answer(unsigned char request)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemsetD8Async(buffer, request, 64, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuMemAlloc(&buffer, 64));
    for (unsigned char i = 0; i < 10; i++)
        answer(i);
    MUST(cuMemFree(buffer));
    MUST(cuCtxDestroy(context));
    return 0;
}
