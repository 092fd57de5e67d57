/* SPDX-License-Identifier: MIT */
/*
 * A thread captures in the mode GLOBAL, which forbids calls that may wait to all threads. Another
 * thread, which knows nothing of the capture, pins memory, and the capture is lost.
 *
 * expect: CAPTURE-ENDED
 * at: pin_memory
 * origin: begun capture
 * says: a capture in mode GLOBAL began
 */
#include "gpu.h"

#include <pthread.h>

static CUcontext context;

NAMED void *pin_memory(void *argument)
{
    void **pinned = argument;
    MUST(cuCtxSetCurrent(context));
    (void)cuMemAllocHost(pinned, 1 << 12);
    MUST(cuCtxSetCurrent(NULL));
    return NULL;
}

NAMED void capture(CUdeviceptr data, CUstream stream)
{
    CUgraph graph;
    pthread_t other;
    void *pinned;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD8Async(data, 1, 1 << 12, stream));
    pthread_create(&other, NULL, pin_memory, &pinned);
    pthread_join(other, NULL);
    (void)cuStreamEndCapture(stream, &graph);
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
