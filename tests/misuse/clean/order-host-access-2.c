/* SPDX-License-Identifier: MIT */
/*
 * Sums come back in pinned memory, and the program reads them behind the event.
 *
 * options: --host
 * driver: lazy
 */
#include "gpu.h"

enum { COUNT = 16384 };

NAMED void fetch(unsigned *sums, CUdeviceptr from, CUstream stream, CUevent arrived)
{
    MUST(cuMemcpyDtoHAsync(sums, from, COUNT * sizeof *sums, stream));
    MUST(cuEventRecord(arrived, stream));
}

NAMED unsigned add(const unsigned *sums)
{
    unsigned all = 0;
    for (int i = 0; i < COUNT; i++)
        all += sums[i];
    return all;
}

int main(void)
{
    CUdeviceptr memory;
    CUstream stream;
    CUevent arrived;
    void *sums;
    use_gpu(0);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&arrived, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemAllocHost(&sums, COUNT * sizeof(unsigned)));
    MUST(cuMemAlloc(&memory, COUNT * sizeof(unsigned)));
    MUST(cuMemsetD32Async(memory, 1, COUNT, stream));
    fetch(sums, memory, stream, arrived);
    MUST(cuEventSynchronize(arrived));
    printf("%u\n", add(sums));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFree(memory));
    MUST(cuMemFreeHost(sums));
    MUST(cuEventDestroy(arrived));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
