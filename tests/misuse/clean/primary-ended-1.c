/* SPDX-License-Identifier: MIT */
/*
 * A thread releases the primary context for the last time. The main thread has taken it off its
 * stack before.
 */
#include "misuse.h"

#include <pthread.h>

NAMED void *finish(void *unused)
{
    MUST(cuDevicePrimaryCtxRelease(0));
    return unused;
}

int main(void)
{
    pthread_t thread;
    CUcontext context;
    CUdeviceptr buffer;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAlloc(&buffer, 64));
    MUST(cuMemFree(buffer));
    MUST(cuCtxSetCurrent(NULL));
    if (pthread_create(&thread, NULL, finish, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    return 0;
}
