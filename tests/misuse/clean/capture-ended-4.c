/* SPDX-License-Identifier: MIT */
/*
 * Two streams are captured at the same time, and waited for when their graphs are there.
 */
#include "gpu.h"

static CUdeviceptr frame, message;

NAMED void begin_drawing(CUstream stream)
{
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuMemsetD8Async(frame, 1, 4096, stream));
}

NAMED void begin_sending(CUstream stream)
{
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(cuMemsetD8Async(message, 2, 64, stream));
}

NAMED void flush(CUstream stream)
{
    MUST(cuStreamSynchronize(stream));
}

NAMED int end(CUstream stream)
{
    CUgraph graph;
    if (cuStreamEndCapture(stream, &graph) != CUDA_SUCCESS)
        return 0;
    MUST(cuGraphDestroy(graph));
    return 1;
}

int main(void)
{
    CUstream drawing, sending;
    use_gpu(0);
    MUST(cuMemAlloc(&frame, 4096));
    MUST(cuMemAlloc(&message, 64));
    MUST(cuStreamCreate(&drawing, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&sending, CU_STREAM_NON_BLOCKING));
    begin_drawing(drawing);
    begin_sending(sending);
    int graphs = end(sending) + end(drawing);
    flush(sending);
    printf("%d of 2 graphs\n", graphs);
    MUST(cuStreamDestroy(drawing));
    MUST(cuStreamDestroy(sending));
    MUST(cuMemFree(frame));
    MUST(cuMemFree(message));
    leave_gpu(0);
    return 0;
}
