/* SPDX-License-Identifier: MIT */
/*
 * One thread pushes the context and another pops it when the work is done. Each thread has a
 * stack of its own: the pop fails, and the first thread keeps the context.
 *
 * expect: STACK-POP-EMPTY
 * at: finish
 * origin: other start
 * says: thread 1 has a context: each thread has a stack of its own
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
}

NAMED void *finish(void *unused)
{
    CUcontext popped = NULL;
    if (cuCtxPopCurrent(&popped) != CUDA_SUCCESS)
        fputs("the context is not here\n", stderr);
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
    MUST(cuMemFree(buffer));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
