/* SPDX-License-Identifier: MIT */
/*
 * A thread that watches the device waits for its whole context while another one captures. Whether
 * that leaves a capture in mode THREAD_LOCAL alone depends on the driver.
 *
 * expect: CAPTURE-WAITED
 * at: watch
 * origin: begun record_steps
 * exit: 0
 */
#include "gpu.h"

#include <pthread.h>

static CUcontext context;
static CUstream quiet;

NAMED void *watch(void *unused)
{
    (void)unused;
    MUST(cuCtxPushCurrent(context));
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
    return NULL;
}

NAMED CUgraph record_steps(CUdeviceptr data, CUstream stream)
{
    CUgraph graph;
    pthread_t watcher;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    pthread_create(&watcher, NULL, watch, NULL);
    MUST(cuMemsetD32Async(data, 7, 1, stream));
    pthread_join(watcher, NULL);
    MUST(cuStreamEndCapture(stream, &graph));
    return graph;
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream;
    context = use_gpu(0);
    MUST(cuMemAlloc(&data, sizeof(int)));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&quiet, CU_STREAM_NON_BLOCKING));
    MUST(cuGraphDestroy(record_steps(data, stream)));
    MUST(cuStreamDestroy(quiet));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
