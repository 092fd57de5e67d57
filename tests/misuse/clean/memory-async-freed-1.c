/* SPDX-License-Identifier: MIT */
/* cuMemFreeAsync frees the memory behind the copy of the same stream. */
#include "gpu.h"

enum { BYTES = 1 << 16 };

NAMED void fetch(void *to, CUdeviceptr from, CUstream stream)
{
    MUST(cuMemcpyDtoHAsync(to, from, BYTES, stream));
}

NAMED void drop(CUdeviceptr data, CUstream stream)
{
    MUST(cuMemFreeAsync(data, stream));
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
    fetch(result, data, stream);
    drop(data, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFreeHost(result));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
