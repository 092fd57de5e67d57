/* SPDX-License-Identifier: MIT */
/*
 * cuMemFreeAsync frees the memory in the same stream, behind the copy.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

NAMED void fetch(void *to, CUdeviceptr from, CUstream stream)
{
    MUST(cuMemcpyDtoHAsync(to, from, BYTES, stream));
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream;
    void *result;
    use_gpu(0);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAllocHost(&result, BYTES));
    MUST(cuMemAllocAsync(&data, BYTES, stream));
    MUST(cuMemsetD8Async(data, 3, BYTES, stream));
    MUST(cuStreamSynchronize(stream));
    fetch(result, data, stream);
    MUST(cuMemFreeAsync(data, stream));
    if (cuStreamSynchronize(stream) != CUDA_SUCCESS)
        fputs("the copy failed\n", stderr);
    MUST(cuMemFreeHost(result));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
