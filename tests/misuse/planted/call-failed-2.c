/* SPDX-License-Identifier: MIT */
/*
 * A program clears a table of 32-bit counters behind a header of six bytes: the address is no
 * multiple of four, the fill is refused, and the counters keep what was there.
 *
 * options: --notes
 * expect: CALL-FAILED
 * at: clear
 * origin: reason -
 * says: the address is no multiple of the 4 bytes of an element
 */
#include "gpu.h"

enum { COUNTERS = 16, HEADER_BYTES = 6 };

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
