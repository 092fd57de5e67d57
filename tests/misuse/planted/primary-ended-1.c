/* SPDX-License-Identifier: MIT */
/*
 * A thread releases the primary context for the last time while the main thread still has it on
 * its stack. Every call that the main thread now makes in the context fails.
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
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuCtxSynchronize());
    if (pthread_create(&thread, NULL, finish, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    MUST(cuCtxSetCurrent(NULL));
    return 0;
}
