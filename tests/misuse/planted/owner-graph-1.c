/* SPDX-License-Identifier: MIT */
/*
 * A program builds a graph that fills a buffer of each GPU, and adds all nodes with the same
 * context. The second fill would run on the first GPU, which cannot reach the memory, and the
 * node is refused.
 *
 * expect: OWNER-GRAPH
 * at: add_fill
 * origin: made allocate
 */
#include "misuse.h"

static CUcontext contexts[2];
static CUdeviceptr buffers[2];

NAMED void allocate(int device)
{
    MUST(cuCtxPushCurrent(contexts[device]));
    MUST(cuMemAlloc(&buffers[device], 64));
    MUST(cuCtxPopCurrent(NULL));
}

NAMED int add_fill(CUgraph graph, int device)
{
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = buffers[device], .elementSize = 1, .width = 64, .height = 1};
    return cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, contexts[0]) == CUDA_SUCCESS;
}

int main(void)
{
    CUgraph graph;
    CUgraphExec exec;
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++) {
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
        allocate(i);
    }
    MUST(cuCtxPushCurrent(contexts[0]));
    MUST(cuGraphCreate(&graph, 0));
    for (int i = 0; i < 2; i++)
        printf("fill %d: %s\n", i, add_fill(graph, i) ? "added" : "refused");
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, NULL));
    MUST(cuCtxSynchronize());
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
    MUST(cuCtxPopCurrent(NULL));
    for (int i = 0; i < 2; i++) {
        MUST(cuMemFree(buffers[i]));
        MUST(cuDevicePrimaryCtxRelease(i));
    }
    return 0;
}
