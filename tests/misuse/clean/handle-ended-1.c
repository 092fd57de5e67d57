/* SPDX-License-Identifier: MIT */
/*
 * A program waits for its stream and destroys it afterwards.
 */
#include "misuse.h"

static CUstream stream;

NAMED void open_stream(void)
{
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

NAMED void close_stream(void)
{
    MUST(cuStreamDestroy(stream));
}

NAMED int wait_for(CUstream which)
{
    return cuStreamSynchronize(which) == CUDA_SUCCESS;
}

int main(void)
{
    CUcontext context;
    CUdeviceptr buffer;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuMemAlloc(&buffer, 64));
    open_stream();
    MUST(cuMemsetD8Async(buffer, 1, 64, stream));
    if (!wait_for(stream))
        fputs("there is nothing to wait for\n", stderr);
    close_stream();
    MUST(cuMemFree(buffer));
    MUST(cuCtxDestroy(context));
    return 0;
}
