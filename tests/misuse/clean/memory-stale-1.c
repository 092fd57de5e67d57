/* SPDX-License-Identifier: MIT */
/*
 * The buffer is freed after the last launch.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 4096 };

NAMED CUgraphExec record(CUdeviceptr buffer, CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuMemsetD8Async(buffer, 0, BYTES, stream));
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    return exec;
}

int main(void)
{
    CUdeviceptr buffer, other;
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&buffer, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraphExec exec = record(buffer, stream);
    MUST(cuMemAlloc(&other, BYTES));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFree(other));
    MUST(cuMemFree(buffer));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
