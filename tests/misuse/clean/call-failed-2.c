/* SPDX-License-Identifier: MIT */
/*
 * A program clears a table of 32-bit counters behind a header of eight bytes: a multiple of four.
 */
#include "gpu.h"

enum { COUNTERS = 16, HEADER_BYTES = 8 };

NAMED CUresult clear(CUdeviceptr counters)
{
    return cuMemsetD32(counters, 0, COUNTERS);
}

int main(void)
{
    CUdeviceptr table;
    use_gpu(0);
    MUST(cuMemAlloc(&table, HEADER_BYTES + 4 * COUNTERS));
    puts(clear(table + HEADER_BYTES) == CUDA_SUCCESS ? "cleared" : "not cleared");
    MUST(cuMemFree(table));
    leave_gpu(0);
    return 0;
}
