/* SPDX-License-Identifier: MIT */
/*
 * Two streams fill the two halves of a picture at once. The lower half begins one row too high, so
 * that both streams write one row, and chance decides which of them wins.
 *
 * expect: ORDER-COPY
 * at: paint
 * origin: first paint
 * origin: second paint
 * origin: made make_picture
 * says: cuMemsetD2D8Async in stream 1
 * says: cuMemsetD2D8Async in stream 2
 * says: bytes 15872 to 16383 of 32768 bytes of device memory
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { WIDTH = 512, HEIGHT = 64 };

typedef struct picture {
    CUdeviceptr pixels;
    size_t pitch;
} picture;

NAMED picture make_picture(void)
{
    picture self;
    MUST(cuMemAllocPitch(&self.pixels, &self.pitch, WIDTH, HEIGHT, 4));
    return self;
}

NAMED void paint(const picture *self, size_t top, size_t rows, int colour, CUstream stream)
{
    CUdeviceptr begin = self->pixels + top * self->pitch;
    MUST(cuMemsetD2D8Async(begin, self->pitch, (unsigned char)colour, WIDTH, rows, stream));
}

int main(void)
{
    CUstream one, other;
    use_gpu(0);
    picture self = make_picture();
    MUST(cuStreamCreate(&one, CU_STREAM_DEFAULT));
    MUST(cuStreamCreate(&other, CU_STREAM_DEFAULT));
    paint(&self, 0, HEIGHT / 2, 1, one);
    paint(&self, HEIGHT / 2 - 1, HEIGHT / 2 + 1, 2, other);
    MUST(cuCtxSynchronize());
    MUST(cuStreamDestroy(one));
    MUST(cuStreamDestroy(other));
    MUST(cuMemFree(self.pixels));
    leave_gpu(0);
    return 0;
}
