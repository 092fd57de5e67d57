/* SPDX-License-Identifier: MIT */
/*
 * A library works with the GPU on a thread of its own; the program tells it to clean up before main
 * returns.
 */
#include "gpu.h"

#include <pthread.h>
#include <stdlib.h>

static CUcontext context;
static CUstream stream;

NAMED void end_stream(void)
{
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
}

NAMED void *work(void *unused)
{
    context = use_gpu(0);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuCtxSetCurrent(NULL));
    return unused;
}

int main(void)
{
    pthread_t worker;
    if (pthread_create(&worker, NULL, work, NULL) != 0)
        abort();
    pthread_join(worker, NULL);
    end_stream();
    return 0;
}
