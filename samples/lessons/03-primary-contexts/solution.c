/* SPDX-License-Identifier: MIT */
/*
 * Lesson 3, exercise: a visit works in the primary context of a GPU, whoever else uses it. After
 * it, what was current before is current again, and the GPU has as many retains as before.
 *
 * Write between the comments only, in two places. Check it: ctxrt lesson 3 --check
 */
#include "lesson.h"

enum { GPUS = 3, BYTES = 256 };

/* Works in the current context. */
static void use(unsigned char value)
{
    unsigned char byte = 0;
    CUdeviceptr buffer;
    unsigned int flags;
    int active;
    MUST(cuMemAlloc(&buffer, BYTES));
    MUST(cuMemsetD8(buffer, value, BYTES));
    MUST(cuMemcpyDtoH(&byte, buffer, 1));
    MUST(cuDevicePrimaryCtxGetState(gpu_of(buffer), &flags, &active));
    printf("the buffer on GPU %d holds %d, the primary context is %s\n", gpu_of(buffer), byte,
           active ? "active" : "not active");
    MUST(cuMemFree(buffer));
}

static void visit(CUdevice gpu, unsigned char value)
{
    CUcontext primary = NULL;
    /* ---- your lines begin ---- */
    MUST(cuDevicePrimaryCtxRetain(&primary, gpu));
    MUST(cuCtxPushCurrent(primary));
    /* ---- your lines end ---- */
    use(value);
    /* ---- your lines begin ---- */
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(gpu));
    /* ---- your lines end ---- */
}

int main(int argc, char **argv)
{
    CUcontext mine, current;
    unsigned int flags;
    int active;

    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&mine, 0)); /* main uses GPU 0 itself */
    MUST(cuCtxPushCurrent(mine));
    for (int gpu = 0; gpu < GPUS; gpu++)
        visit(gpu, (unsigned char)number_of(argc, argv));
    MUST(cuCtxGetCurrent(&current));
    printf("current after the visits: %s\n", current == mine ? "as before" : "another");
    for (int gpu = 0; gpu < GPUS; gpu++) {
        MUST(cuDevicePrimaryCtxGetState(gpu, &flags, &active));
        printf("the primary context of GPU %d is %s\n", gpu, active ? "active" : "not active");
    }
    MUST(cuCtxPopCurrent(NULL)); /* main's push */
    MUST(cuCtxGetCurrent(&current));
    printf("left on the stack: %s\n", current == NULL ? "nothing" : "something");
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
