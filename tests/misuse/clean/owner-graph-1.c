/* SPDX-License-Identifier: MIT */
/* Each node is added with the context of its memory. */
#include "misuse.h"

static CUcontext contexts[2];
static CUdeviceptr buffers[2];

NAMED void allocate(int device)
{
    MUST(cuCtxPushCurrent(contexts[device]));
    MUST(cuMemAlloc(&buffers[device], 64));
    MUST(cuCtxPopCurrent(NULL));
}

NAMED void add_fill(CUgraph graph, int device)
{
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = buffers[device], .elementSize = 1, .width = 64, .height = 1};
    CUcontext context = contexts[device];
    if (cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context) != CUDA_SUCCESS)
        fprintf(stderr, "the fill on GPU %d was refused\n", device);
}

int main(void)
{
    CUgraph graph;
    MUST(cuInit(0));
    MUST(cuGraphCreate(&graph, 0));
    for (int i = 0; i < 2; i++) {
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
        allocate(i);
        add_fill(graph, i);
    }
    MUST(cuGraphDestroy(graph));
    for (int i = 0; i < 2; i++) {
        MUST(cuMemFree(buffers[i]));
        MUST(cuDevicePrimaryCtxRelease(i));
    }
    return 0;
}
