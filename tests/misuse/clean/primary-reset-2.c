/* SPDX-License-Identifier: MIT */
/*
 * The main thread resets the device to begin anew when the other thread has freed its memory and
 * left the context.
 */
#include "misuse.h"

#include <pthread.h>

static CUcontext context;
static pthread_barrier_t begun, reset;

NAMED void *work(void *unused)
{
    CUdeviceptr buffer;
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemAlloc(&buffer, 64));
    MUST(cuMemFree(buffer));
    MUST(cuCtxPopCurrent(NULL));
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&reset);
    return unused;
}

NAMED void begin_anew(void)
{
    MUST(cuDevicePrimaryCtxReset(0));
}

int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&begun, NULL, 2);
    pthread_barrier_init(&reset, NULL, 2);
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    pthread_barrier_wait(&begun);
    begin_anew();
    pthread_barrier_wait(&reset);
    pthread_join(thread, NULL);
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
