/* SPDX-License-Identifier: MIT */
/*
 * A graph has a child graph that prepares a buffer, and a node of its own that writes the first
 * bytes of the buffer. The node does not depend on the node of the child graph.
 *
 * expect: ORDER-NODES
 * at: main
 * origin: first prepare
 * origin: second mark
 * origin: launched main
 * says: node 0 in node 0 of executable graph 1 (a fill)
 * says: node 1 of executable graph 1 (a fill)
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 2048, HEAD = 16 };

NAMED CUgraph prepare(CUdeviceptr buffer, CUstream stream)
{
    CUgraph graph;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuMemsetD8Async(buffer, 0, BYTES, stream));
    MUST(cuStreamEndCapture(stream, &graph));
    return graph;
}

NAMED void mark(CUgraph graph, CUdeviceptr buffer, CUgraphNode after)
{
    const CUDA_MEMSET_NODE_PARAMS head = {
        .dst = buffer, .value = 1, .elementSize = 1, .width = HEAD, .height = 1};
    CUgraphNode node;
    CUcontext context;
    MUST(cuCtxGetCurrent(&context));
    MUST(cuGraphAddMemsetNode(&node, graph, &after, after != NULL, &head, context));
}

int main(void)
{
    CUdeviceptr buffer;
    CUstream stream;
    CUgraph graph, child;
    CUgraphNode prepared;
    CUgraphExec exec;
    use_gpu(0);
    MUST(cuMemAlloc(&buffer, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuGraphCreate(&graph, 0));
    child = prepare(buffer, stream);
    MUST(cuGraphAddChildGraphNode(&prepared, graph, NULL, 0, child));
    MUST(cuGraphDestroy(child));
    mark(graph, buffer, NULL);
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(buffer));
    leave_gpu(0);
    return 0;
}
