/* SPDX-License-Identifier: MIT */
/*
 * cuMemAllocAsync returns an address at once, but the memory is there only when its stream reaches
 * the allocation. Another stream uses it right away: the memory may still belong to its former
 * owner, or to nobody.
 *
 * expect: ORDER-BEFORE-ALLOC
 * at: clear
 * origin: first allocate
 * origin: second clear
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
    clear(memory, other);
    if (cuCtxSynchronize() != CUDA_SUCCESS)
        fputs("the work failed\n", stderr);
    MUST(cuEventDestroy(there));
    MUST(cuStreamDestroy(other));
    MUST(cuStreamDestroy(one));
    leave_gpu(0);
    return 0;
}
