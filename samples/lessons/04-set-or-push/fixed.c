/* SPDX-License-Identifier: MIT */
/*
 * Lesson 4: a function asks another GPU how much memory it has free. It pushes and pops.
 */
#include "lesson.h"

static CUcontext first, second;

static void say_current(const char *when)
{
    CUcontext current;
    MUST(cuCtxGetCurrent(&current));
    printf("%s: current is %s\n", when,
           current == NULL    ? "none"
           : current == first ? "the first"
                              : "the second");
}

static size_t free_memory_of(CUcontext context)
{
    size_t bytes, total;
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemGetInfo(&bytes, &total));
    MUST(cuCtxPopCurrent(NULL)); /* back to what the caller had */
    return bytes;
}

int main(void)
{
    CUdeviceptr buffer;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&second, 0, 1));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuCtxCreate(&first, 0, 0));
    say_current("before");
    printf("GPU 1 has %s memory\n", free_memory_of(second) > 0 ? "free" : "no free");
    say_current("after");
    printf("allocating gives %s\n", name_of(cuMemAlloc(&buffer, 64)));
    MUST(cuCtxDestroy(first));
    MUST(cuCtxDestroy(second));
    return 0;
}
