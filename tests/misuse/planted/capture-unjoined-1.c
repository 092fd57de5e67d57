/* SPDX-License-Identifier: MIT */
/*
 * A side stream joins a capture by waiting for an event of it, and the main stream never waits for
 * the side stream in return. The end of the capture fails, and there is no graph.
 *
 * expect: CAPTURE-UNJOINED
 * at: capture
 * origin: begun capture
 */
#include "gpu.h"

NAMED void fork_work(CUdeviceptr data, CUstream from, CUstream side, CUevent fork)
{
    MUST(cuEventRecord(fork, from));
    MUST(cuStreamWaitEvent(side, fork, 0));
    MUST(cuMemsetD8Async(data, 2, 64, side));
}

NAMED void capture(CUdeviceptr data, CUstream stream, CUstream side, CUevent fork)
{
    CUgraph graph;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    fork_work(data + 64, stream, side, fork);
    MUST(cuMemsetD8Async(data, 1, 64, stream));
    (void)cuStreamEndCapture(stream, &graph);
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream, side;
    CUevent fork;
    use_gpu(0);
    MUST(cuMemAlloc(&data, 128));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    capture(data, stream, side, fork);
    MUST(cuEventDestroy(fork));
    MUST(cuStreamDestroy(side));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
