/* SPDX-License-Identifier: MIT */
/*
 * A program uses its pinned memory again too early: it copies the second frame there while the
 * copy of the first frame to the screen may not have read it yet.
 *
 * expect: ORDER-HOST
 * at: next_frame
 * origin: first send
 * origin: second next_frame
 * origin: made main
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

NAMED void next_frame(void *pinned, CUdeviceptr camera)
{
    MUST(cuMemcpyDtoH(pinned, camera, BYTES));
}

NAMED void send(CUdeviceptr screen, const void *pinned, CUstream stream)
{
    MUST(cuMemcpyHtoDAsync(screen, pinned, BYTES, stream));
}

int main(void)
{
    CUdeviceptr camera, screen;
    CUstream stream;
    void *pinned;
    use_gpu(0);
    MUST(cuMemAllocHost(&pinned, BYTES));
    MUST(cuMemAlloc(&camera, BYTES));
    MUST(cuMemsetD8(camera, 0, BYTES));
    MUST(cuMemAlloc(&screen, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++) {
        next_frame(pinned, camera);
        send(screen, pinned, stream);
    }
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(screen));
    MUST(cuMemFree(camera));
    MUST(cuMemFreeHost(pinned));
    leave_gpu(0);
    return 0;
}
