/* SPDX-License-Identifier: MIT */
/* The thread takes the context off its own stack, onto which cuCtxCreate has pushed it. */
#include "misuse.h"

#include <pthread.h>

static CUcontext context;

NAMED void *open_gpu(void *unused)
{
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuCtxPopCurrent(NULL));
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
