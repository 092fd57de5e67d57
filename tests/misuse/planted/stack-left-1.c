/* SPDX-License-Identifier: MIT */
/*
 * A worker pushes the context of its job, finds nothing to do, and returns without the pop. The
 * context stays on the stack of its thread. If the thread came from a pool, its next job would run
 * in this context.
 *
 * expect: STACK-LEFT
 * at: work
 * origin: pushed work
 */
#include "misuse.h"

#include <pthread.h>

static CUcontext context;

NAMED void *work(void *argument)
{
    size_t bytes = *(size_t *)argument;
    CUdeviceptr buffer;
    MUST(cuCtxPushCurrent(context));
    if (bytes == 0)
        return NULL;
    MUST(cuMemAlloc(&buffer, bytes));
    MUST(cuMemFree(buffer));
    MUST(cuCtxPopCurrent(NULL));
    return NULL;
}

int main(void)
{
    size_t jobs[] = {4096, 0};
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, &jobs[i]) == 0)
            pthread_join(thread, NULL);
    }
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
