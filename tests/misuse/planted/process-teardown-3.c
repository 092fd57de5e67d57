/* SPDX-License-Identifier: MIT */
/*
 * A program stops its worker in an exit handler. The worker looks at the GPU once more, at a time
 * when the handlers of the driver and of other libraries may have run.
 *
 * expect: PROCESS-TEARDOWN
 * at: last_look
 * origin: first use_gpu
 * origin: other -
 * says: the driver was initialised, by process-teardown-3
 * says: it is thread 1 "main" that exits
 * exit: 0
 */
#include "gpu.h"

#include <pthread.h>
#include <semaphore.h>

static CUcontext context;
static CUstream stream;
static pthread_t worker;
static sem_t ready, stop;

NAMED void last_look(void)
{
    (void)cuStreamQuery(stream);
}

NAMED void *work(void *unused)
{
    MUST(cuCtxSetCurrent(context));
    sem_post(&ready);
    sem_wait(&stop);
    last_look();
    return unused;
}

NAMED void stop_worker(void)
{
    sem_post(&stop);
    pthread_join(worker, NULL);
}

int main(void)
{
    sem_init(&ready, 0, 0);
    sem_init(&stop, 0, 0);
    atexit(stop_worker);
    context = use_gpu(0);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (pthread_create(&worker, NULL, work, NULL) != 0)
        abort();
    sem_wait(&ready);
    return 0;
}
