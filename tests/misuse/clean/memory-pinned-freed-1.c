/* SPDX-License-Identifier: MIT */
/* The function waits for the stream before it frees the source. */
#include "gpu.h"

#include <string.h>

enum { BYTES = 1 << 16 };

NAMED void upload(CUdeviceptr to, CUstream stream)
{
    void *staging;
    MUST(cuMemAllocHost(&staging, BYTES));
    memset(staging, 1, BYTES);
    MUST(cuMemcpyHtoDAsync(to, staging, BYTES, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFreeHost(staging));
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&data, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    upload(data, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
