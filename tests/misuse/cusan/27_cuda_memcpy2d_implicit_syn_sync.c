/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes rows in one stream, and another stream copies them. A plain copy of the rows
 * lies between them: it is behind the kernel, and waits.
 *
 * expect: nothing
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

enum { WIDTH = 32, ROWS = 4, TILE = WIDTH * ROWS };

/* Rows of `WIDTH` bytes, which lie 64 bytes apart on the GPU. */
static CUDA_MEMCPY2D rows_of(CUdeviceptr data, void *to)
{
    return (CUDA_MEMCPY2D){
        .srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = data, .srcPitch = 64,
        .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = to, .dstPitch = WIDTH,
        .WidthInBytes = WIDTH, .Height = ROWS,
    };
}

int main(void)
{
    use_gpu(0);
    CUstream one = new_stream(CU_STREAM_DEFAULT), other = new_stream(CU_STREAM_DEFAULT);
    CUdeviceptr data = new_device_memory();
    static unsigned char any[TILE];
    CUDA_MEMCPY2D first = rows_of(data, any);
    CUDA_MEMCPY2D rows = rows_of(data, new_pinned(TILE));
    write_kernel(data, 1, one);
    MUST(cuMemcpy2D(&first));
    MUST(cuMemcpy2DAsync(&rows, other));
    MUST(cuStreamSynchronize(other));
    return done();
}
