/* SPDX-License-Identifier: MIT */
/* The program allocates the memory before the capture begins. */
#include "gpu.h"

enum { BYTES = 1 << 12 };
static CUdeviceptr data, table;

NAMED void make_table(void)
{
    if (cuMemAlloc(&table, BYTES) != CUDA_SUCCESS)
        fputs("there is no table\n", stderr);
}

NAMED CUgraph capture(CUstream stream)
{
    CUgraph graph = NULL;
    make_table();
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD8Async(data, 0, BYTES, stream));
    if (cuStreamEndCapture(stream, &graph) != CUDA_SUCCESS)
        fputs("there is no graph\n", stderr);
    return graph;
}

int main(void)
{
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&data, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraph graph = capture(stream);
    if (graph != NULL)
        MUST(cuGraphDestroy(graph));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    MUST(cuMemFree(table));
    leave_gpu(0);
    return 0;
}
