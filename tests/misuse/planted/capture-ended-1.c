/* SPDX-License-Identifier: MIT */
/*
 * While one part of a program captures a stream in the mode GLOBAL, another one allocates memory.
 * The call fails, and it ends the capture too: all that was captured is lost.
 *
 * expect: CAPTURE-ENDED
 * at: make_table
 * origin: begun capture
 */
#include "gpu.h"

enum { BYTES = 1 << 12 };

NAMED CUdeviceptr make_table(void)
{
    CUdeviceptr table = 0;
    (void)cuMemAlloc(&table, BYTES);
    return table;
}

NAMED CUgraph capture(CUdeviceptr data, CUstream stream)
{
    CUgraph graph = NULL;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD8Async(data, 0, BYTES, stream));
    (void)make_table();
    (void)cuStreamEndCapture(stream, &graph);
    return graph;
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&data, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (capture(data, stream) == NULL)
        fprintf(stderr, "there is no graph\n");
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
