/* SPDX-License-Identifier: MIT */
/*
 * The worker pops the context on both paths, so its thread ends with the stack that it began with.
 */
#include "misuse.h"

#include <pthread.h>

static CUcontext context;

NAMED void *work(void *argument)
{
    size_t bytes = *(size_t *)argument;
    CUdeviceptr buffer;
    MUST(cuCtxPushCurrent(context));
    if (bytes == 0)
        goto end;
    MUST(cuMemAlloc(&buffer, bytes));
    MUST(cuMemFree(buffer));
end:
    MUST(cuCtxPopCurrent(NULL));
    return NULL;
}

int main(void)
{
    size_t jobs[] = {4096, 0};
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, &jobs[i]) == 0)
            pthread_join(thread, NULL);
    }
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
