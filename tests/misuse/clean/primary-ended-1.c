/* SPDX-License-Identifier: MIT */
/* The main thread takes the context off its stack before the other thread releases it. */
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
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuCtxSynchronize());
    MUST(cuCtxSetCurrent(NULL));
    if (pthread_create(&thread, NULL, finish, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    return 0;
}
