/* SPDX-License-Identifier: MIT */
/*
 * An edge leads from the node that clears to the one that draws.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { PICTURE = 4096, BAR = 1024 };

NAMED CUgraphNode paint(CUgraph graph, CUdeviceptr at, unsigned int colour, size_t bytes,
                        CUcontext context)
{
    const CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = at, .value = colour, .elementSize = 1, .width = bytes, .height = 1};
    CUgraphNode node;
    MUST(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    return node;
}

int main(void)
{
    CUdeviceptr picture;
    CUgraph graph;
    CUgraphExec exec;
    const CUcontext context = use_gpu(0);
    MUST(cuMemAlloc(&picture, PICTURE));
    MUST(cuGraphCreate(&graph, 0));
    const CUgraphNode clear = paint(graph, picture, 0, PICTURE, context);
    const CUgraphNode bar = paint(graph, picture, 255, BAR, context);
    MUST(cuGraphAddDependencies(graph, &clear, &bar, 1));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, NULL));
    MUST(cuCtxSynchronize());
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
    MUST(cuMemFree(picture));
    leave_gpu(0);
    return 0;
}
