/* SPDX-License-Identifier: MIT */
/*
 * A filter fetches decoded frames plane by plane, with copies that are to go on by themselves. The
 * frames come from the host's allocator: each copy waits, and the next frame is not decoded
 * meanwhile.
 *
 * expect: MEMORY-PAGEABLE
 * at: fetch_plane
 * origin: argument -
 * says: 69056 bytes of host memory at
 * exit: 0
 * options: --notes
 */
#include "gpu.h"

enum { WIDTH = 320, HEIGHT = 180, PITCH = 512, LINE = 384 };

typedef struct frame {
    unsigned char *luma, *chroma; /* NV12: the second plane has half of the rows */
} frame;

NAMED frame make_frame(void)
{
    unsigned char *memory = malloc(LINE * HEIGHT * 3 / 2);
    if (memory == NULL)
        abort();
    return (frame){memory, memory + LINE * HEIGHT};
}

NAMED void free_frame(frame *one)
{
    free(one->luma);
}

NAMED void fetch_plane(unsigned char *to, CUdeviceptr from, size_t rows, CUstream stream)
{
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = from,
                                .srcPitch = PITCH,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = to,
                                .dstPitch = LINE,
                                .WidthInBytes = WIDTH,
                                .Height = rows};
    MUST(cuMemcpy2DAsync(&copy, stream));
}

NAMED void download(const frame *to, CUdeviceptr from, CUstream stream)
{
    fetch_plane(to->luma, from, HEIGHT, stream);
    fetch_plane(to->chroma, from + PITCH * HEIGHT, HEIGHT / 2, stream);
}

int main(void)
{
    CUdeviceptr decoded;
    CUstream stream;
    use_gpu(0);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&decoded, PITCH * HEIGHT * 3 / 2));
    MUST(cuMemsetD8Async(decoded, 16, PITCH * HEIGHT * 3 / 2, stream));
    frame one = make_frame();
    download(&one, decoded, stream);
    MUST(cuStreamSynchronize(stream));
    printf("%d %d\n", one.luma[0], one.chroma[LINE]);
    free_frame(&one);
    MUST(cuMemFree(decoded));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
