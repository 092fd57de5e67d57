/* SPDX-License-Identifier: MIT */
/* The program waits for the stream and then destroys it. */
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
    wait_for(stream);
    close_stream();
    MUST(cuMemFree(buffer));
    MUST(cuCtxDestroy(context));
    return 0;
}
