/* SPDX-License-Identifier: MIT */
/* The owner of the staging memory frees it once the stream has used it. */
#include "gpu.h"

#include <string.h>

enum { BYTES = 1 << 16 };

NAMED void upload(CUdeviceptr to, void *staging, CUstream stream)
{
    memset(staging, 1, BYTES);
    MUST(cuMemcpyHtoDAsync(to, staging, BYTES, stream));
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream;
    void *staging;
    use_gpu(0);
    MUST(cuMemAlloc(&data, BYTES));
    MUST(cuMemAllocHost(&staging, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    upload(data, staging, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFreeHost(staging));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
