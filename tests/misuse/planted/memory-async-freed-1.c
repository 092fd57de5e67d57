/* SPDX-License-Identifier: MIT */
/*
 * cuMemFree frees stream-ordered memory at once, unlike other memory, whose last use it waits for:
 * the copy that is pending in a stream reads memory that may have a new owner.
 *
 * expect: MEMORY-ASYNC-FREED
 * at: drop
 * origin: made main
 * origin: first fetch
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

NAMED void fetch(void *to, CUdeviceptr from, CUstream stream)
{
    MUST(cuMemcpyDtoHAsync(to, from, BYTES, stream));
}

NAMED void drop(CUdeviceptr data)
{
    MUST(cuMemFree(data));
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
    drop(data);
    (void)cuStreamSynchronize(stream);
    return 0;
}
