/* SPDX-License-Identifier: MIT */
/*
 * Two threads capture, in mode THREAD_LOCAL. The one that has to allocate does so first.
 */
#include "gpu.h"

#include <pthread.h>
#include <semaphore.h>

static CUcontext context;
static CUdeviceptr data;
static sem_t begun, over;

NAMED CUgraph capture(CUstreamCaptureMode mode, void (*meanwhile)(void))
{
    CUgraph graph = NULL;
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamBeginCapture(stream, mode));
    MUST(cuMemsetD8Async(data, 0, 64, stream));
    meanwhile();
    (void)cuStreamEndCapture(stream, &graph);
    MUST(cuStreamDestroy(stream));
    return graph;
}

NAMED void pause(void)
{
    sem_post(&begun);
    sem_wait(&over);
}

NAMED void *work(void *unused)
{
    MUST(cuCtxSetCurrent(context));
    MUST(cuGraphDestroy(capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, pause)));
    MUST(cuCtxSetCurrent(NULL));
    return unused;
}

NAMED void grow(void)
{
    CUdeviceptr more;
    if (cuMemAlloc(&more, 64) == CUDA_SUCCESS)
        MUST(cuMemFree(more));
}

NAMED void grow_later(void)
{
}

NAMED CUgraph record(void)
{
    grow();
    return capture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, grow_later);
}

int main(void)
{
    pthread_t worker;
    context = use_gpu(0);
    MUST(cuMemAlloc(&data, 64));
    if (sem_init(&begun, 0, 0) != 0 || sem_init(&over, 0, 0) != 0 ||
        pthread_create(&worker, NULL, work, NULL) != 0)
        abort();
    sem_wait(&begun);
    CUgraph graph = record();
    sem_post(&over);
    pthread_join(worker, NULL);
    if (graph != NULL)
        MUST(cuGraphDestroy(graph));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
