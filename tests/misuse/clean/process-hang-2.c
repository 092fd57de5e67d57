/* SPDX-License-Identifier: MIT */
/*
 * A program gives the lock back that a host function takes before it waits for the context.
 */
#include "gpu.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int finished;

static void count_finished(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    finished++;
    pthread_mutex_unlock(&lock);
}

NAMED void enqueue(void)
{
    MUST(cuLaunchHostFunc(NULL, count_finished, NULL));
}

NAMED void flush(void)
{
    MUST(cuCtxSynchronize());
}

int main(void)
{
    use_gpu(0);
    pthread_mutex_lock(&lock);
    enqueue();
    pthread_mutex_unlock(&lock);
    flush();
    printf("%d\n", finished);
    leave_gpu(0);
    return 0;
}
