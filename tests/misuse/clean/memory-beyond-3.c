/* SPDX-License-Identifier: MIT */
/*
 * A converter copies and fills in each shape as much as it has allocated.
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
    plane(ROWS * SLICES);
    plane_from(2, ROWS * SLICES - 2);
    box(SLICES);
    halves(BYTES / 2);
    word_rows(ROWS * SLICES);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(buffer));
    leave_gpu(0);
    return 0;
}
