/* SPDX-License-Identifier: MIT */
/*
 * All of three workers are stopped and waited for before the program destroys their context.
 */
#include "misuse.h"

#include <pthread.h>
#include <semaphore.h>

enum { WORKERS = 3 };

static CUcontext context;
static sem_t ready, stop[WORKERS];

NAMED void *work(void *number)
{
    MUST(cuCtxPushCurrent(context));
    sem_post(&ready);
    sem_wait(&stop[(size_t)number]);
    MUST(cuCtxPopCurrent(NULL));
    return NULL;
}

NAMED void finish(void)
{
    MUST(cuCtxDestroy(context));
}

int main(void)
{
    pthread_t workers[WORKERS];
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    sem_init(&ready, 0, 0);
    for (size_t i = 0; i < WORKERS; i++) {
        sem_init(&stop[i], 0, 0);
        if (pthread_create(&workers[i], NULL, work, (void *)i) != 0)
            abort();
        sem_wait(&ready);
    }
    sem_post(&stop[0]);
    pthread_join(workers[0], NULL);
    for (int i = 1; i < WORKERS; i++) {
        sem_post(&stop[i]);
        pthread_join(workers[i], NULL);
    }
    finish();
    return 0;
}
