/* SPDX-License-Identifier: MIT */
/* The capture ends in the stream that it was begun in. */
#include "gpu.h"

#include <stdbool.h>

static CUstream drawing, sending;

NAMED void begin_frame(void)
{
    MUST(cuStreamBeginCapture(drawing, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
}

NAMED bool end_frame(CUgraph *out_graph)
{
    return cuStreamEndCapture(drawing, out_graph) == CUDA_SUCCESS;
}

int main(void)
{
    CUdeviceptr frame;
    CUgraph graph;
    use_gpu(0);
    MUST(cuMemAlloc(&frame, 4096));
    MUST(cuStreamCreate(&drawing, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&sending, CU_STREAM_NON_BLOCKING));
    begin_frame();
    MUST(cuMemsetD8Async(frame, 1, 4096, drawing));
    if (end_frame(&graph))
        MUST(cuGraphDestroy(graph));
    MUST(cuStreamDestroy(drawing));
    MUST(cuStreamDestroy(sending));
    MUST(cuMemFree(frame));
    leave_gpu(0);
    return 0;
}
