/* SPDX-License-Identifier: MIT */
/*
 * Lesson 1, exercise: three contexts, one on each of the GPUs 0, 1 and 2. Each is to get one
 * buffer, filled with a number of its own. When you are done no context may be current any more.
 *
 * Write between the comments only, in two places. Check it: ctxrt lesson 1 --check
 */
#include "lesson.h"

enum { GPUS = 3, BYTES = 4096 };

static void fill_buffers(const CUcontext contexts[GPUS], CUdeviceptr buffers[GPUS], int first)
{
    for (int i = 0; i < GPUS; i++) {
        /* ---- your lines begin ---- */
        (void)contexts;
        /* ---- your lines end ---- */
        MUST(cuMemAlloc(&buffers[i], BYTES));
        MUST(cuMemsetD8(buffers[i], (unsigned char)(first + i), BYTES));
    }
}

static void show_buffers(const CUcontext contexts[GPUS], const CUdeviceptr buffers[GPUS], int first)
{
    for (int i = 0; i < GPUS; i++) {
        unsigned char byte = 0;
        MUST(cuCtxPushCurrent(contexts[i]));
        MUST(cuMemcpyDtoH(&byte, buffers[i], 1));
        MUST(cuCtxPopCurrent(NULL));
        printf("buffer %d is on GPU %d and holds %s number\n", i, gpu_of(buffers[i]),
               byte == first + i ? "its" : "another");
    }
    printf("the first number is %d\n", first);
}

int main(int argc, char **argv)
{
    CUcontext contexts[GPUS], current;
    CUdeviceptr buffers[GPUS];
    int first = number_of(argc, argv);

    MUST(cuInit(0));
    for (int i = 0; i < GPUS; i++)
        MUST(cuCtxCreate(&contexts[i], 0, i));
    fill_buffers(contexts, buffers, first);
    show_buffers(contexts, buffers, first);
    /* ---- your lines begin ---- */
    /* ---- your lines end ---- */
    MUST(cuCtxGetCurrent(&current));
    printf("current at the end: %s\n", current == NULL ? "none" : "a context");
    for (int i = 0; i < GPUS; i++)
        MUST(cuCtxDestroy(contexts[i]));
    return 0;
}
