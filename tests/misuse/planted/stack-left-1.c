/* SPDX-License-Identifier: MIT */
/*
 * A worker pushes the context of its job, finds nothing to do and returns without the pop. The
 * context stays on the stack of its thread: in a pool, whose threads live on, the next job would
 * run in a foreign context.
 *
 * expect: STACK-LEFT
 * at: work
 * origin: pushed work
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
    if (self->bytes == 0)
        return NULL; /* the pop is below */
    MUST(cuMemAlloc(&buffer, self->bytes));
    MUST(cuMemsetD8(buffer, 0, self->bytes));
    MUST(cuMemFree(buffer));
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
