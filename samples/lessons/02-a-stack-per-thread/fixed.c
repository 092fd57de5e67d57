/* SPDX-License-Identifier: MIT */
/*
 * Lesson 2: main makes a context current and lets a worker allocate in it. The two lines that were
 * missing are there.
 */
#include "lesson.h"

#include <pthread.h>

enum { BYTES = 4096 };

static CUcontext context;

static void say_current(const char *thread)
{
    CUcontext current;
    MUST(cuCtxGetCurrent(&current));
    printf("%s: current is %s\n", thread, current == NULL ? "none" : "the context");
}

static void *work(void *argument)
{
    CUdeviceptr *buffer = argument;
    MUST(cuCtxPushCurrent(context));
    say_current("worker");
    CUresult result = cuMemAlloc(buffer, BYTES);
    printf("worker: the allocation gives %s\n", name_of(result));
    MUST(cuCtxPopCurrent(NULL));
    return NULL;
}

int main(void)
{
    CUdeviceptr buffer = 0;
    pthread_t worker;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    say_current("main");
    if (pthread_create(&worker, NULL, work, &buffer) != 0)
        return 1;
    pthread_join(worker, NULL);
    say_current("main");
    MUST(cuCtxDestroy(context)); /* the buffer goes with it */
    return 0;
}
