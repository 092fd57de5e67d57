/* SPDX-License-Identifier: MIT */
/*
 * Lesson 8, exercise: four parts of a picture go to the GPU through two pinned buffers. The host
 * may fill a buffer again only when the copy out of it is done. Wait there, for no more than
 * needed.
 *
 * Write between the comments only, in two places. Check it: ctxrt lesson 8 --check
 */
#include "lesson.h"

#include <string.h>

enum { PARTS = 4, BUFFERS = 2, BYTES = 4096 };

static void send_parts(CUdeviceptr picture, unsigned char *buffers[BUFFERS], CUstream stream,
                       const CUevent copied[BUFFERS], int first)
{
    for (int i = 0; i < PARTS; i++) {
        unsigned char *buffer = buffers[i % BUFFERS];
        /* ---- your lines begin ---- */
        MUST(cuEventSynchronize(copied[i % BUFFERS])); /* at first there is nothing to wait for */
        /* ---- your lines end ---- */
        memset(buffer, first + i, BYTES);
        MUST(cuMemcpyHtoDAsync(picture + (size_t)i * BYTES, buffer, BYTES, stream));
        MUST(cuEventRecord(copied[i % BUFFERS], stream));
    }
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUdeviceptr picture;
    CUstream stream;
    CUevent copied[BUFFERS];
    unsigned char *buffers[BUFFERS], byte = 0;
    int first = number_of(argc, argv);

    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&picture, PARTS * BYTES));
    for (int i = 0; i < BUFFERS; i++) {
        MUST(cuMemAllocHost((void **)&buffers[i], BYTES));
        MUST(cuEventCreate(&copied[i], CU_EVENT_DISABLE_TIMING));
    }
    send_parts(picture, buffers, stream, copied, first);
    /* ---- your lines begin ---- */
    MUST(cuStreamSynchronize(stream));
    /* ---- your lines end ---- */
    for (int i = 0; i < PARTS; i++) {
        MUST(cuMemcpyDtoH(&byte, picture + (size_t)i * BYTES, 1)); /* not in that stream */
        printf("part %d has %s number\n", i, byte == first + i ? "its" : "another");
    }
    printf("the first number is %d\n", first);
    for (int i = 0; i < BUFFERS; i++)
        MUST(cuMemFreeHost(buffers[i]));
    MUST(cuCtxDestroy(context));
    return 0;
}
