/* SPDX-License-Identifier: MIT */
/* All memory is allocated before the capture begins. */
#include "gpu.h"

enum { BYTES = 1 << 12 };

NAMED CUdeviceptr make_table(void)
{
    CUdeviceptr table;
    MUST(cuMemAlloc(&table, BYTES));
    return table;
}

NAMED CUgraph capture(CUdeviceptr data, CUdeviceptr table, CUstream stream)
{
    CUgraph graph;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD8Async(data, 0, BYTES, stream));
    MUST(cuMemcpyDtoDAsync(table, data, BYTES, stream));
    MUST(cuStreamEndCapture(stream, &graph));
    return graph;
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&data, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUdeviceptr table = make_table();
    MUST(cuGraphDestroy(capture(data, table, stream)));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    MUST(cuMemFree(table));
    leave_gpu(0);
    return 0;
}
