/* SPDX-License-Identifier: MIT */
/* The source of the asynchronous copy is pinned: the call returns at once. */
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
    void *values;
    use_gpu(0);
    MUST(cuMemAllocHost(&values, BYTES));
    memset(values, 0, BYTES);
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
