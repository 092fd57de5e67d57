/* SPDX-License-Identifier: MIT */
/* The main stream waits for an event behind the work of the side stream before the capture ends. */
#include "gpu.h"

NAMED void fork_work(CUdeviceptr data, CUstream from, CUstream side, CUevent fork)
{
    MUST(cuEventRecord(fork, from));
    MUST(cuStreamWaitEvent(side, fork, 0));
    MUST(cuMemsetD8Async(data, 2, 64, side));
}

NAMED void join_work(CUstream to, CUstream side, CUevent join)
{
    MUST(cuEventRecord(join, side));
    MUST(cuStreamWaitEvent(to, join, 0));
}

NAMED void capture(CUdeviceptr data, CUstream stream, CUstream side, CUevent event)
{
    CUgraph graph;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    fork_work(data + 64, stream, side, event);
    MUST(cuMemsetD8Async(data, 1, 64, stream));
    join_work(stream, side, event);
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphDestroy(graph));
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream, side;
    CUevent event;
    use_gpu(0);
    MUST(cuMemAlloc(&data, 128));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    capture(data, stream, side, event);
    MUST(cuEventDestroy(event));
    MUST(cuStreamDestroy(side));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
