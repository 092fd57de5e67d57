/* SPDX-License-Identifier: MIT */
/*
 * The main thread ends before the worker, which goes on: the process does not exit yet.
 */
#include "gpu.h"

#include <pthread.h>
#include <stdlib.h>

static CUcontext context;
static pthread_t main_thread;

NAMED void *work(void *unused)
{
    CUdeviceptr memory;
    pthread_join(main_thread, NULL);
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAlloc(&memory, 4096));
    MUST(cuMemFree(memory));
    leave_gpu(0);
    return unused;
}

int main(void)
{
    pthread_t worker;
    main_thread = pthread_self();
    context = use_gpu(0);
    MUST(cuCtxSetCurrent(NULL));
    if (pthread_create(&worker, NULL, work, NULL) != 0)
        abort();
    pthread_exit(NULL);
}
