/* SPDX-License-Identifier: MIT */
/*
 * A program makes a graph, captures work into it, and believes that the end of the capture ends
 * the graph.
 *
 * options: --leaks
 * expect: LIFE-GRAPH
 * at: make_graph
 * origin: made make_graph
 * says: graph 1 of GPU 0
 */
#include "gpu.h"

enum { BYTES = 4096 };

NAMED CUgraph make_graph(void)
{
    CUgraph graph;
    MUST(cuGraphCreate(&graph, 0));
    return graph;
}

NAMED CUgraph record(CUgraph graph, CUdeviceptr buffer, CUstream stream)
{
    CUgraph same;
    MUST(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0,
                                     CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD8Async(buffer, 1, BYTES, stream));
    MUST(cuStreamEndCapture(stream, &same));
    return same;
}

int main(void)
{
    CUdeviceptr buffer;
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&buffer, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraph graph = record(make_graph(), buffer, stream);
    printf("%s\n", graph != NULL ? "recorded" : "not recorded");
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(buffer));
    leave_gpu(0);
    return 0;
}
