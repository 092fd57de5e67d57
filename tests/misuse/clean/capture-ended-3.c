/* SPDX-License-Identifier: MIT */
/* A capture in the mode THREAD_LOCAL forbids nothing to other threads. */
#include "gpu.h"

#include <pthread.h>

static CUcontext context;

NAMED void *pin_memory(void *argument)
{
    void **pinned = argument;
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAllocHost(pinned, 1 << 12));
    MUST(cuCtxSetCurrent(NULL));
    return NULL;
}

NAMED void capture(CUdeviceptr data, CUstream stream)
{
    CUgraph graph;
    pthread_t other;
    void *pinned;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuMemsetD8Async(data, 1, 1 << 12, stream));
    pthread_create(&other, NULL, pin_memory, &pinned);
    pthread_join(other, NULL);
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphDestroy(graph));
    MUST(cuMemFreeHost(pinned));
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream;
    context = use_gpu(0);
    MUST(cuMemAlloc(&data, 1 << 12));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    capture(data, stream);
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
