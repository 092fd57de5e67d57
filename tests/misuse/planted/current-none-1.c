/* SPDX-License-Identifier: MIT */
/*
 * A new thread fills the buffer of the thread that created it. No context is current on the new
 * thread, since each thread has a stack of its own, and the call fails.
 *
 * expect: CURRENT-NONE
 * at: fill
 * origin: other create_buffer
 */
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
    if (cuMemsetD8(buffer, 0, 1024) != CUDA_SUCCESS)
        fputs("the buffer was not filled\n", stderr);
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
