/* SPDX-License-Identifier: MIT */
/* The worker pops the context before it tells the main thread that it is done. */
#include "misuse.h"

#include <pthread.h>

static CUcontext context;
static pthread_barrier_t done, closed;

NAMED void *work(void *unused)
{
    MUST(cuCtxPushCurrent(context));
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
    pthread_barrier_wait(&done);
    pthread_barrier_wait(&closed);
    return unused;
}

NAMED void close_gpu(void)
{
    MUST(cuCtxDestroy(context));
}

int main(void)
{
    pthread_t worker;
    pthread_barrier_init(&done, NULL, 2);
    pthread_barrier_init(&closed, NULL, 2);
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    if (pthread_create(&worker, NULL, work, NULL) != 0)
        return 1;
    pthread_barrier_wait(&done);
    close_gpu();
    pthread_barrier_wait(&closed);
    pthread_join(worker, NULL);
    return 0;
}
