/* SPDX-License-Identifier: MIT */
/*
 * Lesson 11: a cache keeps a buffer for the next job. It is freed before
 * its context is destroyed.
 */
#include "lesson.h"

enum { BYTES = 4096 };

static CUdeviceptr cached;

static void run_job(void)
{
    if (cached == 0)
        MUST(cuMemAlloc(&cached, BYTES));
    printf("filling gives %s\n", name_of(cuMemsetD8(cached, 42, BYTES)));
}

static void empty_cache(void)
{
    if (cached != 0)
        printf("freeing gives %s\n", name_of(cuMemFree(cached)));
    cached = 0;
}

int main(void)
{
    CUcontext context;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    run_job();
    empty_cache();
    MUST(cuCtxDestroy(context));

    MUST(cuCtxCreate(&context, 0, 0)); /* the next job */
    run_job();
    empty_cache();
    MUST(cuCtxDestroy(context));
    return 0;
}
