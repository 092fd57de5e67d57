/* SPDX-License-Identifier: MIT */
/*
 * A program reads its result back in a stream to managed memory, which the host may read.
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
    MUST(cuMemAllocManaged(&place, 64, CU_MEM_ATTACH_GLOBAL));
    MUST(cuMemAllocAsync(&result, 64, stream));
    MUST(cuMemsetD8Async(result, 1, 64, stream));
    read_back(place, result, stream);
    MUST(cuMemFreeAsync(result, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFree(place));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
