/* SPDX-License-Identifier: MIT */
/*
 * A program captures a graph, instantiates it, and destroys only the executable graph. The graph
 * with its nodes stays.
 *
 * options: --leaks
 * expect: LIFE-GRAPH
 * at: record
 */
#include "misuse.h"

NAMED CUgraphExec record(CUstream stream, CUdeviceptr buffer)
{
    CUgraph graph;
    CUgraphExec executable;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuMemsetD8Async(buffer, 0, 64, stream));
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphInstantiate(&executable, graph, 0));
    return executable;
}

int main(void)
{
    CUcontext context;
    CUstream stream;
    CUdeviceptr buffer;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&buffer, 64));
    CUgraphExec executable = record(stream, buffer);
    MUST(cuGraphLaunch(executable, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuGraphExecDestroy(executable));
    MUST(cuCtxDestroy(context));
    return 0;
}
