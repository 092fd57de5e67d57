/* SPDX-License-Identifier: MIT */
/*
 * A program destroys its stream as soon as the last work is submitted, and then waits for the
 * stream. The work goes on; the wait fails, or waits for a new stream that has got the same
 * handle.
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

NAMED void wait_for(CUstream which)
{
    if (cuStreamSynchronize(which) != CUDA_SUCCESS)
        fputs("nothing was waited for\n", stderr);
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
    wait_for(stream);
    MUST(cuMemFree(buffer));
    MUST(cuCtxDestroy(context));
    return 0;
}
