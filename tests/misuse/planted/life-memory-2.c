/* SPDX-License-Identifier: MIT */
/*
 * A program allocates in the order of a stream and destroys its context. Stream-ordered memory
 * belongs to the device, not to the context, and is left.
 *
 * options: --leaks
 * expect: LIFE-MEMORY
 * at: allocate
 * origin: made allocate
 * says: 4096 bytes of stream-ordered memory
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
