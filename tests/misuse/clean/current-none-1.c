/* SPDX-License-Identifier: MIT */
/*
 * A new thread pushes the context of its creator before it fills the buffer, and pops it
 * afterwards.
 */
#include "misuse.h"

#include <pthread.h>

enum { BYTES = 1024 };
static CUcontext context;
static CUdeviceptr buffer;

NAMED void create_buffer(void)
{
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuMemAlloc(&buffer, BYTES));
}

NAMED void *fill(void *unused)
{
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemsetD8(buffer, 0, BYTES));
    MUST(cuCtxPopCurrent(NULL));
    return unused;
}

int main(void)
{
    pthread_t thread;
    MUST(cuInit(0));
    create_buffer();
    if (pthread_create(&thread, NULL, fill, NULL) == 0)
        pthread_join(thread, NULL);
    MUST(cuMemFree(buffer));
    MUST(cuCtxDestroy(context));
    return 0;
}
