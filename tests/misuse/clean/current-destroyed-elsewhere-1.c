/* SPDX-License-Identifier: MIT */
/*
 * A worker pops the context before the main thread destroys it.
 */
#include "misuse.h"

#include <pthread.h>

static CUcontext context;
static pthread_barrier_t has_worked, is_closed;

NAMED void *work(void *unused)
{
    CUdeviceptr buffer;
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemAlloc(&buffer, 64));
    MUST(cuMemFree(buffer));
    MUST(cuCtxPopCurrent(NULL));
    pthread_barrier_wait(&has_worked);
    pthread_barrier_wait(&is_closed);
    return unused;
}

NAMED void close_gpu(void)
{
    MUST(cuCtxDestroy(context));
}

int main(void)
{
    pthread_t worker;
    pthread_barrier_init(&has_worked, NULL, 2);
    pthread_barrier_init(&is_closed, NULL, 2);
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    if (pthread_create(&worker, NULL, work, NULL) != 0)
        return 1;
    pthread_barrier_wait(&has_worked);
    close_gpu();
    pthread_barrier_wait(&is_closed);
    pthread_join(worker, NULL);
    return 0;
}
