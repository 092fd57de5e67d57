/* SPDX-License-Identifier: MIT */
/*
 * Each worker has a recording with a buffer of its own.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 1024, WORKERS = 2 };

NAMED void clear(CUdeviceptr scratch, CUstream stream)
{
    MUST(cuMemsetD8Async(scratch, 0, BYTES, stream));
}

NAMED CUgraphExec record(CUdeviceptr scratch, CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    clear(scratch, stream);
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    return exec;
}

NAMED void run(CUgraphExec exec, CUstream stream)
{
    MUST(cuGraphLaunch(exec, stream));
}

int main(void)
{
    CUdeviceptr scratch[WORKERS];
    CUstream streams[WORKERS];
    CUgraphExec execs[WORKERS];
    use_gpu(0);
    for (int i = 0; i < WORKERS; i++) {
        MUST(cuMemAlloc(&scratch[i], BYTES));
        MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        execs[i] = record(scratch[i], streams[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        run(execs[i], streams[i]);
    MUST(cuCtxSynchronize());
    for (int i = 0; i < WORKERS; i++) {
        MUST(cuGraphExecDestroy(execs[i]));
        MUST(cuStreamDestroy(streams[i]));
        MUST(cuMemFree(scratch[i]));
    }
    leave_gpu(0);
    return 0;
}
