/* SPDX-License-Identifier: MIT */
/*
 * A tile of an image is copied into its place. The last tile of a row is narrower than the others,
 * and the program copies all of them in full width: the copy of the last tile of the last row ends
 * behind the image.
 *
 * expect: MEMORY-BEYOND
 * at: copy_tile
 * origin: made make_image
 * says: 2930 bytes, from byte 3090 of 6000 allocated
 */
#include "gpu.h"

enum { WIDTH = 100, HEIGHT = 60, TILE = 30 };

NAMED CUdeviceptr make_image(void)
{
    CUdeviceptr image;
    MUST(cuMemAlloc(&image, WIDTH * HEIGHT));
    return image;
}

NAMED void copy_tile(CUdeviceptr image, const unsigned char *tile, size_t x, size_t y)
{
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = tile, .srcPitch = TILE,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = image, .dstPitch = WIDTH,
        .dstXInBytes = x, .dstY = y, .WidthInBytes = TILE, .Height = TILE,
    };
    (void)cuMemcpy2D(&copy);
}

int main(void)
{
    static const unsigned char tile[TILE * TILE];
    use_gpu(0);
    CUdeviceptr image = make_image();
    for (size_t y = 0; y < HEIGHT; y += TILE)
        for (size_t x = 0; x < WIDTH; x += TILE)
            copy_tile(image, tile, x, y);
    MUST(cuMemFree(image));
    leave_gpu(0);
    return 0;
}
