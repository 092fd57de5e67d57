/* SPDX-License-Identifier: MIT */
/*
 * Two buffers of pinned memory take turns, and each has an event behind its last send, which the
 * program waits for before it fills the buffer again.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

typedef struct buffer {
    void *pinned;
    CUevent sent;
} buffer;

NAMED void next_frame(const buffer *self, CUdeviceptr camera)
{
    MUST(cuEventSynchronize(self->sent));
    MUST(cuMemcpyDtoH(self->pinned, camera, BYTES));
}

NAMED void send(CUdeviceptr screen, const buffer *self, CUstream stream)
{
    MUST(cuMemcpyHtoDAsync(screen, self->pinned, BYTES, stream));
    MUST(cuEventRecord(self->sent, stream));
}

int main(void)
{
    buffer all[2];
    CUdeviceptr camera, screen;
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&camera, BYTES));
    MUST(cuMemAlloc(&screen, BYTES));
    MUST(cuMemsetD8(camera, 0, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++) {
        MUST(cuMemAllocHost(&all[i].pinned, BYTES));
        MUST(cuEventCreate(&all[i].sent, CU_EVENT_DISABLE_TIMING));
    }
    for (int i = 0; i < 6; i++) {
        next_frame(&all[i % 2], camera);
        send(screen, &all[i % 2], stream);
    }
    MUST(cuStreamSynchronize(stream));
    for (int i = 0; i < 2; i++) {
        MUST(cuEventDestroy(all[i].sent));
        MUST(cuMemFreeHost(all[i].pinned));
    }
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(camera));
    MUST(cuMemFree(screen));
    leave_gpu(0);
    return 0;
}
