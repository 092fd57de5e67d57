/* SPDX-License-Identifier: MIT */
/*
 * The other stream waits for an event behind the allocation, and later frees the memory.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

NAMED CUdeviceptr allocate(CUstream stream)
{
    CUdeviceptr memory;
    MUST(cuMemAllocAsync(&memory, BYTES, stream));
    return memory;
}

NAMED void clear(CUdeviceptr memory, CUstream stream)
{
    if (cuMemsetD8Async(memory, 0, BYTES, stream) != CUDA_SUCCESS)
        fputs("the memory was not cleared\n", stderr);
}

int main(void)
{
    CUstream one, other;
    CUevent there;
    use_gpu(0);
    MUST(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&there, CU_EVENT_DISABLE_TIMING));
    CUdeviceptr memory = allocate(one);
    MUST(cuEventRecord(there, one));
    MUST(cuStreamWaitEvent(other, there, 0));
    clear(memory, other);
    MUST(cuMemFreeAsync(memory, other));
    if (cuCtxSynchronize() != CUDA_SUCCESS)
        fputs("the work failed\n", stderr);
    MUST(cuEventDestroy(there));
    MUST(cuStreamDestroy(other));
    MUST(cuStreamDestroy(one));
    leave_gpu(0);
    return 0;
}
