/* SPDX-License-Identifier: MIT */
/* The new thread pushes the context before it fills the buffer, and pops it afterwards. */
#include "misuse.h"

#include <pthread.h>

static CUcontext context;
static CUdeviceptr buffer;

NAMED void create_buffer(void)
{
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuMemAlloc(&buffer, 1024));
}

NAMED void *fill(void *unused)
{
    MUST(cuCtxPushCurrent(context));
    if (cuMemsetD8(buffer, 0, 1024) != CUDA_SUCCESS)
        fputs("the buffer was not filled\n", stderr);
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
