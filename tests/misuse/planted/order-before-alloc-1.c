/* SPDX-License-Identifier: MIT */
/*
 * cuMemAllocAsync gives the address at once, and the memory only when its stream gets there.
 * Another stream uses it right away: the memory may still be of its former owner, or of nobody.
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
    (void)cuMemsetD8Async(memory, 0, BYTES, stream);
}

int main(void)
{
    CUstream one, other;
    use_gpu(0);
    MUST(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CUdeviceptr memory = allocate(one);
    clear(memory, other);
    (void)cuCtxSynchronize();
    return 0;
}
