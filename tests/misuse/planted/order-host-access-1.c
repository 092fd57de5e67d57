/* SPDX-License-Identifier: MIT */
/*
 * A buffer in pinned memory is filled for the next frame while the copy of this one is in flight:
 * the first frame may arrive with the colour of the second.
 *
 * expect: ORDER-HOST-ACCESS
 * at: draw
 * origin: first send
 * origin: second draw
 * origin: made main
 * says: the host wrote
 * options: --host
 * driver: lazy
 */
#include "gpu.h"

enum { BYTES = 65536 };

NAMED void send(CUdeviceptr frame, const void *buffer, CUstream stream)
{
    MUST(cuMemcpyHtoDAsync(frame, buffer, BYTES, stream));
}

NAMED void draw(unsigned char *buffer, unsigned char colour)
{
    for (int i = 0; i < BYTES; i++)
        buffer[i] = colour;
}

int main(void)
{
    CUdeviceptr frames[2];
    CUstream stream;
    void *buffer;
    use_gpu(0);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAllocHost(&buffer, BYTES));
    for (int i = 0; i < 2; i++)
        MUST(cuMemAlloc(&frames[i], BYTES));
    for (int i = 0; i < 2; i++) {
        draw(buffer, (unsigned char)(i + 1));
        send(frames[i], buffer, stream);
    }
    MUST(cuStreamSynchronize(stream));
    for (int i = 0; i < 2; i++)
        MUST(cuMemFree(frames[i]));
    MUST(cuMemFreeHost(buffer));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
