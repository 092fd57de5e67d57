/* SPDX-License-Identifier: MIT */
/*
 * A thread creates a context for other threads and ends. cuCtxCreate has also pushed the context
 * onto the stack of this thread: anything else that the thread had called would have worked in it.
 *
 * expect: STACK-CREATE-LEFT
 * at: open_gpu
 * origin: pushed open_gpu
 */
#include "misuse.h"

#include <pthread.h>

static CUcontext context;

NAMED void *open_gpu(void *unused)
{
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    return unused;
}

NAMED void use_memory(void)
{
    CUdeviceptr buffer;
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemAlloc(&buffer, 1024));
    MUST(cuMemFree(buffer));
    MUST(cuCtxPopCurrent(NULL));
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, open_gpu, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    use_memory();
    MUST(cuCtxDestroy(context));
    return 0;
}
