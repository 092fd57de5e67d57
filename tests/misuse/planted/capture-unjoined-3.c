/* SPDX-License-Identifier: MIT */
/*
 * A side stream of a capture starts another one, for a log, and only the side stream is joined
 * again.
 *
 * expect: CAPTURE-UNJOINED
 * at: capture
 * origin: begun capture
 * says: the capture began in stream 1 of GPU 0
 * origin: joined fork_to
 * says: stream 3 of GPU 0 joined it, and nothing waits for its last work
 */
#include "gpu.h"

static CUevent event;
static CUdeviceptr data;

NAMED void fork_to(CUstream side, CUstream from)
{
    MUST(cuEventRecord(event, from));
    MUST(cuStreamWaitEvent(side, event, 0));
}

NAMED void join_again(CUstream stream, CUstream side)
{
    MUST(cuMemsetD8Async(data, 1, 64, side));
    MUST(cuEventRecord(event, side));
    MUST(cuStreamWaitEvent(stream, event, 0));
}

NAMED void fork_log(CUstream log, CUstream side)
{
    fork_to(log, side);
    MUST(cuMemsetD8Async(data + 64, 2, 64, log));
}

NAMED void capture(CUstream streams[3])
{
    CUgraph graph;
    MUST(cuStreamBeginCapture(streams[0], CU_STREAM_CAPTURE_MODE_RELAXED));
    fork_to(streams[1], streams[0]);
    fork_log(streams[2], streams[1]);
    join_again(streams[0], streams[1]);
    if (cuStreamEndCapture(streams[0], &graph) == CUDA_SUCCESS)
        MUST(cuGraphDestroy(graph));
}

int main(void)
{
    CUstream streams[3];
    use_gpu(0);
    MUST(cuMemAlloc(&data, 128));
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 3; i++)
        MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    capture(streams);
    MUST(cuEventDestroy(event));
    for (int i = 0; i < 3; i++)
        MUST(cuStreamDestroy(streams[i]));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
