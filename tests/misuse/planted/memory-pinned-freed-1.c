/* SPDX-License-Identifier: MIT */
/*
 * A function starts an asynchronous copy and frees the source before the copy is done. This works
 * only as long as cuMemFreeHost waits for the copy. A free that does not wait, such as that of a
 * pool of pinned memory, would let the copy read what the next owner writes.
 *
 * expect: MEMORY-PINNED-FREED
 * at: upload
 * origin: made upload
 * origin: first upload
 * exit: 0
 */
#include "gpu.h"

#include <string.h>

enum { BYTES = 1 << 16 };

NAMED void upload(CUdeviceptr to, CUstream stream)
{
    void *staging;
    MUST(cuMemAllocHost(&staging, BYTES));
    memset(staging, 1, BYTES);
    MUST(cuMemcpyHtoDAsync(to, staging, BYTES, stream));
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
