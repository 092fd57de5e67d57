/* SPDX-License-Identifier: MIT */
/*
 * A program gives the node of an executable graph another buffer while the first launch runs. That
 * launch keeps its buffer; the next one writes the new buffer, which another stream still fills.
 *
 * expect: ORDER-COPY
 * at: run
 * origin: first fill
 * origin: second build
 * origin: launched run
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 1024 };

NAMED CUgraph build(CUgraphNode *out_node, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
    CUgraph graph;
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddMemsetNode(out_node, graph, NULL, 0, params, context));
    return graph;
}

NAMED void fill(CUdeviceptr buffer, CUstream stream)
{
    MUST(cuMemsetD8Async(buffer, 7, BYTES, stream));
}

NAMED void run(CUgraphExec exec, CUstream stream)
{
    MUST(cuGraphLaunch(exec, stream));
}

int main(void)
{
    CUdeviceptr buffers[2];
    CUgraphNode node;
    CUgraphExec exec;
    CUstream stream, other;
    CUevent filled;
    const CUcontext context = use_gpu(0);
    for (int i = 0; i < 2; i++)
        MUST(cuMemAlloc(&buffers[i], BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&filled, CU_EVENT_DISABLE_TIMING));
    CUDA_MEMSET_NODE_PARAMS params = {
        .dst = buffers[0], .value = 1, .elementSize = 1, .width = BYTES, .height = 1};
    CUgraph graph = build(&node, &params, context);
    MUST(cuGraphInstantiate(&exec, graph, 0));
    run(exec, stream);
    params.dst = buffers[1];
    MUST(cuGraphExecMemsetNodeSetParams(exec, node, &params, context));
    fill(buffers[1], other);
    run(exec, stream);
    MUST(cuCtxSynchronize());
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
    MUST(cuEventDestroy(filled));
    MUST(cuStreamDestroy(other));
    MUST(cuStreamDestroy(stream));
    for (int i = 0; i < 2; i++)
        MUST(cuMemFree(buffers[i]));
    leave_gpu(0);
    return 0;
}
