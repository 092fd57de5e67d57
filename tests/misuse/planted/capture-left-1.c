/* SPDX-License-Identifier: MIT */
/*
 * A function returns between the beginning and the end of a capture. The stream stays in the
 * capture: what the program submits to it later is recorded, and never runs.
 *
 * expect: CAPTURE-LEFT
 * at: record_steps
 * origin: made record_steps
 * exit: 0
 */
#include "gpu.h"

NAMED CUgraph record_steps(CUdeviceptr data, int steps, CUstream stream)
{
    CUgraph graph;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    if (steps == 0)
        return NULL;
    for (int i = 0; i < steps; i++)
        MUST(cuMemsetD32Async(data, (unsigned)i, 1, stream));
    MUST(cuStreamEndCapture(stream, &graph));
    return graph;
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&data, sizeof(int)));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (record_steps(data, 0, stream) == NULL)
        MUST(cuMemsetD32Async(data, 0, 1, stream));
    return 0;
}
