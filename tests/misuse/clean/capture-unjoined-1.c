/* SPDX-License-Identifier: MIT */
/*
 * Before the end of the capture, the main stream waits for an event behind the work of the side
 * stream.
 */
#include "gpu.h"

static CUdeviceptr data;

NAMED void capture(CUstream stream, CUstream side, CUevent event)
{
    CUgraph graph;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(cuEventRecord(event, stream));
    MUST(cuStreamWaitEvent(side, event, 0));
    MUST(cuMemsetD8Async(data, 1, 64, stream));
    MUST(cuMemsetD8Async(data + 64, 2, 64, side));
    MUST(cuEventRecord(event, side));
    MUST(cuStreamWaitEvent(stream, event, 0));
    if (cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS)
        MUST(cuGraphDestroy(graph));
    else
        fputs("there is no graph\n", stderr);
}

int main(void)
{
    CUstream stream, side;
    CUevent event;
    use_gpu(0);
    MUST(cuMemAlloc(&data, 128));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    capture(stream, side, event);
    MUST(cuEventDestroy(event));
    MUST(cuStreamDestroy(side));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
