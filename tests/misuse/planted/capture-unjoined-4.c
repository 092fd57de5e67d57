/* SPDX-License-Identifier: MIT */
/*
 * The program adds a node of its own to the graph of a capture, behind the work of the side
 * stream, and lets the side stream go on behind it. The first stream has waited for the side
 * stream before.
 *
 * expect: CAPTURE-UNJOINED
 * at: capture
 * origin: begun capture
 * origin: joined fork_to
 * says: the capture began in stream 1 of GPU 0
 * says: stream 2 of GPU 0 joined it, and nothing waits for its last work
 * exit: 1
 */
#include "gpu.h"

static CUevent event;
static CUdeviceptr data;

NAMED void fork_to(CUstream side, CUstream from)
{
    MUST(cuEventRecord(event, from));
    MUST(cuStreamWaitEvent(side, event, 0));
    MUST(cuMemsetD8Async(data, 1, 64, side));
}

NAMED void join(CUstream stream, CUstream side)
{
    MUST(cuEventRecord(event, side));
    MUST(cuStreamWaitEvent(stream, event, 0));
}

NAMED void add_node(CUstream side)
{
    CUstreamCaptureStatus status;
    const CUgraphNode *before;
    CUgraphNode node;
    CUgraph graph;
    size_t count;
    MUST(cuStreamGetCaptureInfo(side, &status, NULL, &graph, &before, &count));
    MUST(cuGraphAddEmptyNode(&node, graph, before, count));
    MUST(cuStreamUpdateCaptureDependencies(side, &node, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
}

NAMED void capture(CUstream stream, CUstream side)
{
    CUgraph graph;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    fork_to(side, stream);
    join(stream, side);
    add_node(side);
    if (cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS)
        MUST(cuGraphDestroy(graph));
}

int main(void)
{
    CUstream streams[2];
    use_gpu(0);
    MUST(cuMemAlloc(&data, 64));
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 2; i++)
        MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    capture(streams[0], streams[1]);
    MUST(cuEventDestroy(event));
    for (int i = 0; i < 2; i++)
        MUST(cuStreamDestroy(streams[i]));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
