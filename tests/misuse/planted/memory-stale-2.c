/* SPDX-License-Identifier: MIT */
/*
 * A program makes its working memory larger and launches the graph that it has: the node's
 * operand is still the address of the smaller memory, and other bytes are there now, or none.
 *
 * expect: MEMORY-STALE
 * at: run
 * origin: node build
 * origin: ended grow
 * says: (a fill)
 * says: 256 bytes of device memory
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { SMALL = 256, LARGE = 1024 };

NAMED CUgraph build(CUdeviceptr memory, CUcontext context)
{
    const CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = memory, .value = 1, .elementSize = 4, .width = SMALL / 4, .height = 1};
    CUgraph graph;
    CUgraphNode node;
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    return graph;
}

NAMED CUdeviceptr grow(CUdeviceptr memory)
{
    CUdeviceptr larger;
    MUST(cuMemFree(memory));
    MUST(cuMemAlloc(&larger, LARGE));
    return larger;
}

NAMED void run(CUgraphExec exec)
{
    (void)cuGraphLaunch(exec, NULL);
    MUST(cuCtxSynchronize());
}

int main(void)
{
    CUdeviceptr memory;
    CUgraphExec exec;
    const CUcontext context = use_gpu(0);
    MUST(cuMemAlloc(&memory, SMALL));
    CUgraph graph = build(memory, context);
    MUST(cuGraphInstantiate(&exec, graph, 0));
    run(exec);
    memory = grow(memory);
    run(exec);
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
    MUST(cuMemFree(memory));
    leave_gpu(0);
    return 0;
}
