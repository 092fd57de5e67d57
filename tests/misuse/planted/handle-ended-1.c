/* SPDX-License-Identifier: MIT */
/*
 * A program destroys its stream when the last copy is submitted and then waits for that stream.
 * The copy goes on; the wait fails, or waits for whatever has got the handle since.
 *
 * expect: HANDLE-ENDED
 * at: wait_for
 * origin: made open_stream
 * origin: ended close_stream
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
    close_stream();
    if (!wait_for(stream))
        fputs("there is nothing to wait for\n", stderr);
    MUST(cuMemFree(buffer));
    MUST(cuCtxDestroy(context));
    return 0;
}
