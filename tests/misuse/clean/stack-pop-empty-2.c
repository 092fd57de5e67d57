/* SPDX-License-Identifier: MIT */
/*
 * Two threads share a context. Each pushes it where it works and pops it there again.
 */
#include "misuse.h"

#include <pthread.h>

static CUcontext context;
static CUdeviceptr buffer;

NAMED void start(void)
{
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemAlloc(&buffer, 1024));
    MUST(cuMemsetD8(buffer, 1, 1024));
    MUST(cuCtxPopCurrent(NULL));
}

NAMED void *finish(void *unused)
{
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemFree(buffer));
    MUST(cuCtxPopCurrent(NULL));
    return unused;
}

int main(void)
{
    pthread_t thread;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    start();
    if (pthread_create(&thread, NULL, finish, NULL) == 0)
        pthread_join(thread, NULL);
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
