/* SPDX-License-Identifier: MIT */
/*
 * Lesson 3: a renderer and a decoder of one program use the primary context of GPU 0. Each
 * gives back what it has retained.
 */
#include "lesson.h"

enum { BYTES = 4096 };

static void say_state(const char *when)
{
    unsigned int flags;
    int active;
    MUST(cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("%s the primary context is %s\n", when, active ? "active" : "not active");
}

static void decode(int broken)
{
    CUcontext primary;
    MUST(cuDevicePrimaryCtxRetain(&primary, 0));
    (void)broken; /* one release for one retain, on each path */
    MUST(cuDevicePrimaryCtxRelease(0));
}

int main(void)
{
    CUcontext primary;
    CUdeviceptr picture;

    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&primary, 0)); /* the renderer */
    MUST(cuCtxPushCurrent(primary));
    MUST(cuMemAlloc(&picture, BYTES));
    decode(0);
    say_state("after a good file");
    decode(1);
    say_state("after a broken file");
    printf("drawing gives %s\n", name_of(cuMemsetD8(picture, 255, BYTES)));
    MUST(cuMemFree(picture));
    MUST(cuCtxPopCurrent(NULL));
    printf("letting it go gives %s\n", name_of(cuDevicePrimaryCtxRelease(0)));
    return 0;
}
