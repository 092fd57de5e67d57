/* SPDX-License-Identifier: MIT */
/*
 * A program stops its worker, and waits for it, before it returns from main.
 */
#include "gpu.h"

#include <pthread.h>
#include <semaphore.h>

static CUcontext context;
static CUstream stream;
static sem_t stop;

NAMED void last_look(void)
{
    MUST(cuStreamQuery(stream));
}

NAMED void *work(void *unused)
{
    MUST(cuCtxSetCurrent(context));
    sem_wait(&stop);
    last_look();
    return unused;
}

NAMED void stop_worker(pthread_t worker)
{
    sem_post(&stop);
    pthread_join(worker, NULL);
}

int main(void)
{
    pthread_t worker;
    sem_init(&stop, 0, 0);
    context = use_gpu(0);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (pthread_create(&worker, NULL, work, NULL) == 0)
        stop_worker(worker);
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
