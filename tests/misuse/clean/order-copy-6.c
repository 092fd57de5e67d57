/* SPDX-License-Identifier: MIT */
/*
 * Events order the uploads and the launches.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 4096, FRAMES = 2 };

static CUevent event;

NAMED CUgraphExec record(CUdeviceptr out, CUdeviceptr in, CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuMemcpyDtoDAsync(out, in, BYTES, stream));
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    return exec;
}

NAMED void upload(CUdeviceptr in, const void *frame, CUstream stream)
{
    MUST(cuMemcpyHtoDAsync(in, frame, BYTES, stream));
}

NAMED void run(CUgraphExec exec, CUstream stream)
{
    MUST(cuGraphLaunch(exec, stream));
}

static void order(CUstream from, CUstream to)
{
    (void)from;
    (void)to;
    MUST(cuEventRecord(event, from));
    MUST(cuStreamWaitEvent(to, event, 0));
}

int main(void)
{
    CUdeviceptr in, out;
    CUstream uploads, work;
    void *frame;
    use_gpu(0);
    MUST(cuMemAlloc(&in, 2 * BYTES));
    out = in + BYTES;
    MUST(cuMemAllocHost(&frame, BYTES));
    MUST(cuStreamCreate(&uploads, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&work, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CUgraphExec exec = record(out, in, work);
    for (int i = 0; i < FRAMES; i++) {
        upload(in, frame, uploads);
        order(uploads, work);
        run(exec, work);
        order(work, uploads);
    }
    MUST(cuCtxSynchronize());
    MUST(cuGraphExecDestroy(exec));
    MUST(cuEventDestroy(event));
    MUST(cuStreamDestroy(work));
    MUST(cuStreamDestroy(uploads));
    MUST(cuMemFreeHost(frame));
    MUST(cuMemFree(in));
    leave_gpu(0);
    return 0;
}
