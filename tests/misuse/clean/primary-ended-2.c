/* SPDX-License-Identifier: MIT */
/*
 * Workers push the primary context and wait for jobs. The pool tells them to end, waits for them,
 * and releases the context last.
 */
#include "misuse.h"

#include <pthread.h>

enum { WORKERS = 2 };
static CUcontext context;
static pthread_t workers[WORKERS];
static pthread_barrier_t ready, closing;

NAMED void *work(void *unused)
{
    size_t left, total;
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemGetInfo(&left, &total));
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&closing);
    MUST(cuCtxPopCurrent(NULL));
    return unused;
}

NAMED void open_pool(void)
{
    pthread_barrier_init(&ready, NULL, WORKERS + 1);
    pthread_barrier_init(&closing, NULL, WORKERS + 1);
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i], NULL, work, NULL) != 0)
            exit(1);
    pthread_barrier_wait(&ready);
}

NAMED void close_pool(void)
{
    pthread_barrier_wait(&closing);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    MUST(cuDevicePrimaryCtxRelease(0));
}

int main(void)
{
    MUST(cuInit(0));
    open_pool();
    close_pool();
    return 0;
}
