/* SPDX-License-Identifier: MIT */
/*
 * A thread enters the context of the first GPU, then that of the second, and leaves once: one pop
 * for two pushes. What the thread does next goes to the first GPU, although it seems to have left
 * it.
 *
 * expect: STACK-LEFT
 * at: enter
 * origin: pushed enter
 * says: the primary context of GPU 0, pushed by stack-left-2
 */
#include "misuse.h"

#include <pthread.h>

static CUcontext contexts[2];

NAMED void enter(int device)
{
    MUST(cuCtxPushCurrent(contexts[device]));
}

NAMED void leave(void)
{
    MUST(cuCtxPopCurrent(NULL));
}

NAMED void *exchange(void *unused)
{
    CUdeviceptr here, there;
    enter(0);
    MUST(cuMemAlloc(&here, 64));
    enter(1);
    MUST(cuMemAlloc(&there, 64));
    MUST(cuMemcpyPeer(there, contexts[1], here, contexts[0], 64));
    MUST(cuMemFree(there));
    MUST(cuMemFree(here));
    leave();
    return unused;
}

int main(void)
{
    pthread_t thread;
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
    if (pthread_create(&thread, NULL, exchange, NULL) == 0)
        pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
