/* SPDX-License-Identifier: MIT */
/*
 * A result goes from one GPU to another. The stream of the other GPU waits for an event, but that
 * event was recorded before the copy between the GPUs, not behind it.
 *
 * expect: ORDER-COPY
 * at: take
 * origin: first give
 * origin: second take
 * says: cuMemcpyPeerAsync in stream 2
 * says: cuMemcpyDtoHAsync_v2 in stream 1
 * origin: made make_side
 * says: bytes 0 to 65535 of 65536 bytes of device memory
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

typedef struct side {
    CUcontext context;
    CUstream stream;
    CUdeviceptr data;
} side;

NAMED side make_side(int gpu)
{
    side self = {.context = use_gpu(gpu)};
    MUST(cuMemAlloc(&self.data, BYTES));
    MUST(cuStreamCreate(&self.stream, CU_STREAM_NON_BLOCKING));
    return self;
}

NAMED void drop_side(side *self, int gpu)
{
    MUST(cuCtxSetCurrent(self->context));
    MUST(cuStreamSynchronize(self->stream));
    MUST(cuStreamDestroy(self->stream));
    MUST(cuMemFree(self->data));
    leave_gpu(gpu);
}

NAMED void give(const side *from, const side *to, CUevent ready)
{
    MUST(cuMemsetD8Async(from->data, 1, BYTES, from->stream));
    MUST(cuEventRecord(ready, from->stream));
    MUST(cuMemcpyPeerAsync(to->data, to->context, from->data, from->context, BYTES, from->stream));
}

NAMED void take(const side *to, void *result, CUevent ready)
{
    MUST(cuStreamWaitEvent(to->stream, ready, 0));
    MUST(cuMemcpyDtoHAsync(result, to->data, BYTES, to->stream));
}

int main(void)
{
    CUevent ready;
    void *result;
    side to = make_side(1), from = make_side(0);
    MUST(cuMemAllocHost(&result, BYTES));
    MUST(cuEventCreate(&ready, CU_EVENT_DISABLE_TIMING));
    give(&from, &to, ready);
    MUST(cuCtxSetCurrent(to.context));
    take(&to, result, ready);
    MUST(cuStreamSynchronize(to.stream));
    MUST(cuStreamSynchronize(from.stream));
    MUST(cuMemFreeHost(result));
    MUST(cuEventDestroy(ready));
    drop_side(&from, 0);
    drop_side(&to, 1);
    return 0;
}
