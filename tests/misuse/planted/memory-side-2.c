/* SPDX-License-Identifier: MIT */
/*
 * A program that was written for managed memory reads its result back in a stream. The result lies
 * in stream-ordered memory now, and so does the place that the host is to read.
 *
 * expect: MEMORY-SIDE
 * at: read_back
 */
#include "gpu.h"

#include <stdint.h>

NAMED void read_back(CUdeviceptr place, CUdeviceptr result, CUstream stream)
{
    MUST(cuMemcpyDtoHAsync((void *)(uintptr_t)place, result, 64, stream));
}

int main(void)
{
    CUstream stream;
    CUdeviceptr place, result;
    use_gpu(0);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAllocAsync(&place, 64, stream));
    MUST(cuMemAllocAsync(&result, 64, stream));
    MUST(cuMemsetD8Async(result, 1, 64, stream));
    read_back(place, result, stream);
    MUST(cuMemFreeAsync(place, stream));
    MUST(cuMemFreeAsync(result, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
