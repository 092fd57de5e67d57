/* SPDX-License-Identifier: MIT */
/*
 * Lesson 4, exercise: fill_all works in three contexts, again and again. It may not leave anything
 * on the stack, however many rounds there are, and the caller's context has to be current again,
 * whoever the caller is.
 *
 * Write between the comments only, in two places. Check it: ctxrt lesson 4 --check
 */
#include "lesson.h"

enum { GPUS = 3, ROUNDS = 50, BYTES = 64 };

static void fill_all(const CUcontext contexts[GPUS], const CUdeviceptr buffers[GPUS], int value)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < GPUS; i++) {
            /* ---- your lines begin ---- */
            MUST(cuCtxPushCurrent(contexts[i]));
            /* ---- your lines end ---- */
            const int byte = round < ROUNDS - 1 ? round : value;
            MUST(cuMemsetD8(buffers[i], (unsigned char)byte, BYTES));
            MUST(cuCtxSynchronize());
            /* ---- your lines begin ---- */
            MUST(cuCtxPopCurrent(NULL));
            /* ---- your lines end ---- */
        }
}

/* Counts the entries of the stack, and empties it. */
static int depth(void)
{
    int entries = 0;
    CUcontext current = NULL;
    for (MUST(cuCtxGetCurrent(&current)); current != NULL; MUST(cuCtxGetCurrent(&current))) {
        MUST(cuCtxPopCurrent(NULL));
        entries++;
    }
    return entries;
}

int main(int argc, char **argv)
{
    CUcontext contexts[GPUS], current;
    CUdeviceptr buffers[GPUS];
    unsigned char byte = 0;

    MUST(cuInit(0));
    for (int i = 0; i < GPUS; i++) {
        MUST(cuCtxCreate(&contexts[i], 0, i));
        MUST(cuMemAlloc(&buffers[i], BYTES));
        MUST(cuCtxPopCurrent(NULL));
    }
    for (int caller = 0; caller < GPUS; caller++) {
        MUST(cuCtxPushCurrent(contexts[(caller + 1) % GPUS]));
        MUST(cuCtxPushCurrent(contexts[caller]));
        fill_all(contexts, buffers, number_of(argc, argv));
        MUST(cuCtxGetCurrent(&current));
        MUST(cuMemcpyDtoH(&byte, buffers[caller], 1));
        printf("called on GPU %d: its buffer holds %d, ", gpu_of(buffers[caller]), byte);
        printf("current: %s, ", current == contexts[caller] ? "the caller's" : "another");
        printf("entries: %d\n", depth());
    }
    for (int i = 0; i < GPUS; i++)
        MUST(cuCtxDestroy(contexts[i]));
    return 0;
}
