/* SPDX-License-Identifier: MIT */
/*
 * A thread releases the primary context for the last time while the main thread, which set it
 * current, still has it on its stack. What the main thread calls next fails.
 *
 * expect: PRIMARY-ENDED
 * at: finish
 * origin: pushed main
 */
#include "misuse.h"

#include <pthread.h>

NAMED void *finish(void *unused)
{
    MUST(cuDevicePrimaryCtxRelease(0));
    return unused;
}

int main(void)
{
    pthread_t thread;
    CUcontext context;
    CUdeviceptr buffer;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAlloc(&buffer, 64));
    MUST(cuMemFree(buffer));
    if (pthread_create(&thread, NULL, finish, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    MUST(cuCtxSetCurrent(NULL));
    return 0;
}
