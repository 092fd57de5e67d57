/* SPDX-License-Identifier: MIT */
/*
 * The function looks at its arguments before the capture begins. At its end the program releases
 * the context.
 */
#include "gpu.h"

NAMED CUgraph record_steps(CUdeviceptr data, int steps, CUstream stream)
{
    CUgraph graph;
    if (steps == 0)
        return NULL;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
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
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
