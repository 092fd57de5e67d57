/* SPDX-License-Identifier: MIT */
/*
 * Workers push the primary context and wait for jobs. The pool releases it, for the last time,
 * before it tells them to end: each of them has an ended context on its stack.
 *
 * expect: PRIMARY-ENDED
 * at: close_pool
 * origin: pushed work
 * origin: made open_pool
 * says: the primary context of GPU 0
 * origin: ended close_pool
 * says: the primary context of GPU 0 was ended by cuDevicePrimaryCtxRelease_v2
 * says: thread 3 "primary-ended-2" has it on its stack
 * says: thread 2 "primary-ended-2" has it on its stack
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
    MUST(cuDevicePrimaryCtxRelease(0));
    pthread_barrier_wait(&closing);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
}

int main(void)
{
    MUST(cuInit(0));
    open_pool();
    close_pool();
    return 0;
}
