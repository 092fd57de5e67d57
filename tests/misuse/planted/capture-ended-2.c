/* SPDX-License-Identifier: MIT */
/*
 * A loop that waits for its stream at the end of each step is captured as it is. Nothing that is
 * captured runs, so that there is nothing to wait for: the call fails and ends the capture.
 *
 * expect: CAPTURE-ENDED
 * at: step
 * origin: begun record_steps
 * says: a capture in mode RELAXED began
 */
#include "gpu.h"

enum { COUNT = 64 };

NAMED void step(CUdeviceptr data, unsigned value, CUstream stream)
{
    (void)cuMemsetD32Async(data, value, COUNT, stream);
    (void)cuStreamSynchronize(stream);
}

NAMED CUgraph record_steps(CUdeviceptr data, CUstream stream)
{
    CUgraph graph = NULL;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    step(data, 1, stream);
    (void)cuStreamEndCapture(stream, &graph);
    return graph;
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&data, COUNT * sizeof(int)));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    step(data, 0, stream);
    if (record_steps(data, stream) == NULL)
        fprintf(stderr, "there is no graph\n");
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
