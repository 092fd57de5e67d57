/* SPDX-License-Identifier: MIT */
/* The source of the copy is pinned memory, and the call returns at once. */
#include "gpu.h"

#include <string.h>

enum { BYTES = 1 << 16 };

NAMED void upload(CUdeviceptr to, const void *from, CUstream stream)
{
    MUST(cuMemcpyHtoDAsync(to, from, BYTES, stream));
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream;
    use_gpu(0);
    void *values;
    MUST(cuMemAllocHost(&values, BYTES));
    memset(values, 1, BYTES);
    MUST(cuMemAlloc(&data, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    upload(data, values, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFreeHost(values));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
