/* SPDX-License-Identifier: MIT */
/*
 * A program destroys a graph with the context in which its nodes were captured. A context that is
 * live can launch it in streams of another one.
 */
#include "misuse.h"

static CUdeviceptr buffer;

NAMED CUgraphExec record(CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuMemsetD8Async(buffer, 0, 64, stream));
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    return exec;
}

NAMED void replay(CUgraphExec exec, CUstream stream)
{
    puts(cuGraphLaunch(exec, stream) == CUDA_SUCCESS ? "launched" : "refused");
}

int main(void)
{
    CUcontext first, second;
    CUstream stream;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&first, 0, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&buffer, 64));
    CUgraphExec exec = record(stream);
    replay(exec, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuCtxCreate(&second, 0, 0));
    replay(exec, NULL);
    MUST(cuCtxSynchronize());
    MUST(cuGraphExecDestroy(exec));
    MUST(cuCtxDestroy(second));
    MUST(cuCtxDestroy(first));
    return 0;
}
