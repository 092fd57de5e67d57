/* SPDX-License-Identifier: MIT */
/*
 * A program allocates in stream order and changes its mind: it frees with cuMemFree at once, which
 * asks only that all uses of the memory are over. There were none.
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

NAMED CUdeviceptr allocate(CUstream stream)
{
    CUdeviceptr memory;
    MUST(cuMemAllocAsync(&memory, BYTES, stream));
    return memory;
}

NAMED void give_up(CUdeviceptr memory)
{
    MUST(cuMemFree(memory));
}

int main(void)
{
    CUstream stream;
    use_gpu(0);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    give_up(allocate(stream));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
