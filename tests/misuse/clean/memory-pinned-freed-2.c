/* SPDX-License-Identifier: MIT */
/* Each result has an event behind its copy, and its memory is freed behind the event. */
#include "gpu.h"

enum { BYTES = 1 << 16 };

typedef struct result {
    CUstream stream;
    CUevent there;
    void *memory;
} result;

NAMED void fetch(const result *self, CUdeviceptr from)
{
    MUST(cuMemcpyDtoHAsync(self->memory, from, BYTES, self->stream));
    MUST(cuEventRecord(self->there, self->stream));
}

NAMED void drop(const result *self)
{
    MUST(cuEventSynchronize(self->there));
    MUST(cuMemFreeHost(self->memory));
    MUST(cuEventDestroy(self->there));
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
        MUST(cuEventCreate(&all[i].there, CU_EVENT_DISABLE_TIMING));
        MUST(cuMemAllocHost(&all[i].memory, BYTES));
        fetch(&all[i], data + i * BYTES);
    }
    drop(&all[0]);
    drop(&all[1]);
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
