/* SPDX-License-Identifier: MIT */
/*
 * Pinned memory of the host has an address that kernels can use, and the program frees this
 * address as memory of the device. The call fails, and the memory stays pinned.
 *
 * expect: MEMORY-HOST
 * at: main
 * origin: made make_table
 */
#include "gpu.h"

enum { BYTES = 4096 };

NAMED void *make_table(void)
{
    void *table;
    MUST(cuMemHostAlloc(&table, BYTES, CU_MEMHOSTALLOC_DEVICEMAP));
    return table;
}

int main(void)
{
    CUdeviceptr table_on_gpu;
    use_gpu(0);
    void *table = make_table();
    MUST(cuMemHostGetDevicePointer(&table_on_gpu, table, 0));
    MUST(cuMemsetD8(table_on_gpu, 7, BYTES));
    MUST(cuCtxSynchronize());
    if (cuMemFree(table_on_gpu) != CUDA_SUCCESS)
        fputs("the table stays\n", stderr);
    leave_gpu(0);
    return 0;
}
