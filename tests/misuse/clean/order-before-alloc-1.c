/* SPDX-License-Identifier: MIT */
/*
 * The other stream waits for an event behind the allocation, and the free for one behind the use.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

NAMED CUdeviceptr allocate(CUstream stream, CUevent there)
{
    CUdeviceptr memory;
    MUST(cuMemAllocAsync(&memory, BYTES, stream));
    MUST(cuEventRecord(there, stream));
    return memory;
}

NAMED void clear(CUdeviceptr memory, CUstream stream, CUevent there, CUevent used)
{
    MUST(cuStreamWaitEvent(stream, there, 0));
    MUST(cuMemsetD8Async(memory, 0, BYTES, stream));
    MUST(cuEventRecord(used, stream));
}

int main(void)
{
    CUstream one, other;
    CUevent there, used;
    use_gpu(0);
    MUST(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&there, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&used, CU_EVENT_DISABLE_TIMING));
    CUdeviceptr memory = allocate(one, there);
    clear(memory, other, there, used);
    MUST(cuStreamWaitEvent(one, used, 0));
    MUST(cuMemFreeAsync(memory, one));
    MUST(cuCtxSynchronize());
    MUST(cuEventDestroy(there));
    MUST(cuEventDestroy(used));
    MUST(cuStreamDestroy(one));
    MUST(cuStreamDestroy(other));
    leave_gpu(0);
    return 0;
}
