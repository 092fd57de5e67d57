/* SPDX-License-Identifier: MIT */
/*
 * A program allocates in the order of a stream and frees in this order too, before it destroys
 * its context.
 */
#include "misuse.h"

NAMED CUdeviceptr allocate(CUstream stream)
{
    CUdeviceptr memory;
    MUST(cuMemAllocAsync(&memory, 4096, stream));
    return memory;
}

NAMED void work(CUdeviceptr memory, CUstream stream)
{
    MUST(cuMemsetD8Async(memory, 0, 4096, stream));
    MUST(cuMemFreeAsync(memory, stream));
    MUST(cuStreamSynchronize(stream));
}

int main(void)
{
    CUcontext context;
    CUstream stream;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUdeviceptr memory = allocate(stream);
    work(memory, stream);
    MUST(cuCtxDestroy(context)); /* with the stream */
    return 0;
}
