/* SPDX-License-Identifier: MIT */
/*
 * A library works with the GPU on a thread of its own, and cleans up in an exit handler, on the
 * main thread, which has never called the driver before.
 *
 * expect: PROCESS-TEARDOWN
 * at: end_stream
 * origin: first use_gpu
 * exit: 0
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
    atexit(end_stream);
    return unused;
}

int main(void)
{
    pthread_t worker;
    if (pthread_create(&worker, NULL, work, NULL) != 0)
        abort();
    pthread_join(worker, NULL);
    return 0;
}
