/* SPDX-License-Identifier: MIT */
/*
 * A converter counts one row, slice or value too many, in each shape of copies and fills.
 * expect: MEMORY-BEYOND
 * at: plane
 * says: 576 bytes, from byte 0 of 512 allocated
 * expect: MEMORY-BEYOND
 * at: plane_from
 * says: 128 bytes, from byte 448 of 512 allocated
 * expect: MEMORY-BEYOND
 * at: box
 * says: 768 bytes, from byte 0 of 512
 * expect: MEMORY-BEYOND
 * at: halves
 * says: 514 bytes, from byte 0 of 512
 * expect: MEMORY-BEYOND
 * at: word_rows
 * says: 576 bytes, from byte 0 of 512
 */
#include "gpu.h"

enum { WIDTH = 64, ROWS = 4, SLICES = 2, BYTES = WIDTH * ROWS * SLICES };
static CUdeviceptr buffer;
static char host[2 * BYTES];

NAMED void plane(int rows)
{
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = WIDTH,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = buffer,
                          .dstPitch = WIDTH, .WidthInBytes = WIDTH, .Height = (size_t)rows};
    (void)cuMemcpy2D(&copy);
}

NAMED void plane_from(int rows, int first)
{
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = buffer,
                          .srcY = (size_t)first, .srcPitch = WIDTH,
                          .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = host, .dstPitch = WIDTH,
                          .WidthInBytes = WIDTH, .Height = (size_t)rows};
    (void)cuMemcpy2DUnaligned(&copy);
}

NAMED void box(int slices)
{
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = WIDTH,
                          .srcHeight = ROWS, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = buffer, .dstPitch = WIDTH, .dstHeight = ROWS,
                          .WidthInBytes = WIDTH, .Height = ROWS, .Depth = (size_t)slices};
    (void)cuMemcpy3D(&copy);
}

NAMED void halves(int count)
{
    (void)cuMemsetD16(buffer, 1, (size_t)count);
}

NAMED void word_rows(int rows)
{
    (void)cuMemsetD2D32(buffer, WIDTH, 1, WIDTH / 4, (size_t)rows);
}

int main(void)
{
    use_gpu(0);
    MUST(cuMemAlloc(&buffer, BYTES));
    plane(ROWS * SLICES + 1);
    plane_from(2, ROWS * SLICES - 2 + 1);
    box(SLICES + 1);
    halves(BYTES / 2 + 1);
    word_rows(ROWS * SLICES + 1);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(buffer));
    leave_gpu(0);
    return 0;
}
