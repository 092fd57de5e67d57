/* SPDX-License-Identifier: MIT */
/*
 * A worker pushes the context of its job and pops it on every way out, so that its thread ends
 * with the stack with which it began.
 */
#include "misuse.h"

#include <pthread.h>

typedef struct job {
    CUcontext context;
    size_t bytes;
} job;

NAMED void *work(void *argument)
{
    const job *self = argument;
    CUdeviceptr buffer;
    MUST(cuCtxPushCurrent(self->context));
    if (self->bytes != 0) {
        MUST(cuMemAlloc(&buffer, self->bytes));
        MUST(cuMemsetD8(buffer, 0, self->bytes));
        MUST(cuMemFree(buffer));
    }
    MUST(cuCtxPopCurrent(NULL));
    return NULL;
}

NAMED void run(CUcontext context, size_t bytes)
{
    job one = {context, bytes};
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, &one) == 0)
        pthread_join(thread, NULL);
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    run(context, 4096);
    run(context, 0);
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
