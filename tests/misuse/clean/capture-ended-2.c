/* SPDX-License-Identifier: MIT */
/* The steps are captured without the waits; the program waits once, for the launch of the graph. */
#include "gpu.h"

enum { COUNT = 64 };

NAMED void step(CUdeviceptr data, unsigned value, CUstream stream)
{
    MUST(cuMemsetD32Async(data, value, COUNT, stream));
}

NAMED CUgraph record_steps(CUdeviceptr data, CUstream stream)
{
    CUgraph graph;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    step(data, 1, stream);
    step(data, 2, stream);
    MUST(cuStreamEndCapture(stream, &graph));
    return graph;
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream;
    CUgraphExec steps;
    use_gpu(0);
    MUST(cuMemAlloc(&data, COUNT * sizeof(int)));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraph graph = record_steps(data, stream);
    MUST(cuGraphInstantiate(&steps, graph, 0));
    MUST(cuGraphLaunch(steps, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuGraphExecDestroy(steps));
    MUST(cuGraphDestroy(graph));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
