/* SPDX-License-Identifier: MIT */
/*
 * The rows of a picture come to pinned memory. One of them was not filled.
 *
 * expect: MEMORY-UNWRITTEN
 * at: bring
 * origin: made main
 * says: 48 bytes, the first one is byte 3584
 * options: --notes
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

enum { WIDTH = 48, ROWS = 8, PITCH = 512 };

NAMED void bring(void *rows, CUdeviceptr picture, CUstream stream)
{
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = picture,
                                .srcPitch = PITCH,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = rows,
                                .dstPitch = WIDTH,
                                .WidthInBytes = WIDTH,
                                .Height = ROWS};
    MUST(cuMemcpy2DAsync(&copy, stream));
}

int main(void)
{
    CUdeviceptr picture;
    CUstream stream;
    void *rows;
    use_gpu(0);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&picture, ROWS * PITCH));
    MUST(cuMemAllocHost(&rows, ROWS * WIDTH));
    MUST(cuMemsetD2D8Async(picture, PITCH, 1, WIDTH, ROWS - 1, stream));
    bring(rows, picture, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFree(picture));
    MUST(cuMemFreeHost(rows));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
