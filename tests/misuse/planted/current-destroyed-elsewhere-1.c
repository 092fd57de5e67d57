/* SPDX-License-Identifier: MIT */
/*
 * The main thread destroys a context that a worker still has on its stack. The entry stays there,
 * and every call that the worker makes in this context fails.
 *
 * expect: CURRENT-DESTROYED-ELSEWHERE
 * at: close_gpu
 * origin: made main
 * origin: pushed work
 */
#include "misuse.h"

#include <pthread.h>

static CUcontext context;
static pthread_barrier_t done, closed;

NAMED void *work(void *unused)
{
    MUST(cuCtxPushCurrent(context));
    MUST(cuCtxSynchronize());
    pthread_barrier_wait(&done);
    pthread_barrier_wait(&closed);
    MUST(cuCtxPopCurrent(NULL));
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
