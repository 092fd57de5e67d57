/* SPDX-License-Identifier: MIT */
/*
 * Two results come back in two streams. The program waits for one stream and frees the memory of
 * both results.
 *
 * expect: MEMORY-PINNED-FREED
 * at: drop
 * origin: made main
 * origin: first fetch
 * says: 65536 bytes of pinned memory belongs to the primary context of GPU 0
 * says: cuMemcpyDtoHAsync_v2 in stream 1 of GPU 0 is pending
 * exit: 0
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

typedef struct result {
    CUstream stream;
    void *memory;
} result;

NAMED void fetch(const result *self, CUdeviceptr from)
{
    MUST(cuMemcpyDtoHAsync(self->memory, from, BYTES, self->stream));
}

NAMED void drop(const result *self)
{
    MUST(cuMemFreeHost(self->memory));
    MUST(cuStreamDestroy(self->stream));
}

int main(void)
{
    result all[2];
    CUdeviceptr data;
    use_gpu(0);
    MUST(cuMemAlloc(&data, 2 * BYTES));
    MUST(cuMemsetD8(data, 5, 2 * BYTES));
    MUST(cuCtxSynchronize());
    for (int i = 0; i < 2; i++) {
        MUST(cuStreamCreate(&all[i].stream, CU_STREAM_NON_BLOCKING));
        MUST(cuMemAllocHost(&all[i].memory, BYTES));
        fetch(&all[i], data + i * BYTES);
    }
    MUST(cuStreamSynchronize(all[1].stream));
    drop(&all[0]);
    drop(&all[1]);
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
