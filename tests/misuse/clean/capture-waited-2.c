/* SPDX-License-Identifier: MIT */
/*
 * The thread waits for its own stream.
 */
#include "gpu.h"

#include <pthread.h>

static CUcontext context;
static CUdeviceptr report;
static CUstream reports;

/* Writes progress to the device, and comes back when it is there. */
NAMED void flush_report(int value)
{
    MUST(cuMemsetD32Async(report, (unsigned)value, 1, reports));
    MUST(cuStreamSynchronize(reports));
}

static void *reporter(void *unused)
{
    (void)unused;
    MUST(cuCtxSetCurrent(context));
    for (int i = 0; i < 3; i++)
        flush_report(i);
    return NULL;
}

NAMED void capture_job(CUstream stream, CUdeviceptr data)
{
    pthread_t thread;
    CUgraph graph;
    CUgraphExec job;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(cuMemsetD32Async(data, 1, 1, stream));
    pthread_create(&thread, NULL, reporter, NULL);
    pthread_join(thread, NULL);
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphInstantiateWithFlags(&job, graph, 0));
    MUST(cuGraphLaunch(job, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuGraphExecDestroy(job));
    MUST(cuGraphDestroy(graph));
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream;
    context = use_gpu(0);
    MUST(cuMemAlloc(&data, sizeof(int)));
    MUST(cuMemAlloc(&report, sizeof(int)));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&reports, CU_STREAM_NON_BLOCKING));
    capture_job(stream, data);
    MUST(cuStreamDestroy(reports));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(report));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
