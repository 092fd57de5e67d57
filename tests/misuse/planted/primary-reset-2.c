/* SPDX-License-Identifier: MIT */
/*
 * After a failed attempt the main thread resets the device to begin anew, while another thread
 * has the context current and would go on with its work in it.
 *
 * expect: PRIMARY-RESET
 * at: begin_anew
 * origin: pushed work
 * origin: made main
 * says: the primary context of GPU 0
 * origin: ended begin_anew
 * says: the primary context of GPU 0 was ended by cuDevicePrimaryCtxReset_v2
 * says: thread 2 "primary-reset-2" has it on its stack
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
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&reset);
    MUST(cuCtxPopCurrent(NULL)); /* the buffer is gone */
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
