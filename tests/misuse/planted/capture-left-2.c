/* SPDX-License-Identifier: MIT */
/*
 * A capture is begun in one stream and, by a slip, ended in another, which captures nothing. The
 * call fails, the program goes on without its graph, and the first stream stays in capture.
 *
 * expect: CAPTURE-LEFT
 * at: begin_frame
 * origin: made begin_frame
 * says: capture 1 of GPU 0
 * exit: 0
 */
#include "gpu.h"

#include <stdbool.h>

static CUstream drawing, sending;

NAMED void begin_frame(void)
{
    MUST(cuStreamBeginCapture(drawing, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
}

NAMED bool end_frame(CUgraph *out_graph)
{
    return cuStreamEndCapture(sending, out_graph) == CUDA_SUCCESS;
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
    if (!end_frame(&graph))
        fprintf(stderr, "no graph, drawing without one\n");
    return 0;
}
