/* SPDX-License-Identifier: MIT */
/*
 * A program keeps a graph longer than the context in which its nodes were captured. The graph
 * lives on, its nodes cannot run, and the launch in another context fails.
 *
 * expect: OWNER-GRAPH
 * at: replay
 * origin: made record
 * origin: ended main
 * says: executable graph 1 of GPU 0 belongs to context 1 of GPU 0
 * origin: made main
 * says: context 1 of GPU 0
 * says: context 1 of GPU 0 was ended by cuCtxDestroy_v2
 * origin: pushed main
 * says: current there: context 2 of GPU 0, created by owner-graph-2
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
    MUST(cuCtxDestroy(first));
    MUST(cuCtxCreate(&second, 0, 0));
    replay(exec, NULL);
    MUST(cuGraphExecDestroy(exec));
    MUST(cuCtxDestroy(second));
    return 0;
}
