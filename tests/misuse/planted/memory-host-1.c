/* SPDX-License-Identifier: MIT */
/*
 * Pinned memory of the host has an address that kernels can use, and the program frees it as
 * memory of the device. The call fails; the memory stays pinned.
 *
 * expect: MEMORY-HOST
 * at: release
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

NAMED void release(CUdeviceptr table)
{
    (void)cuMemFree(table);
}

int main(void)
{
    CUdeviceptr table_of_gpu;
    use_gpu(0);
    void *table = make_table();
    MUST(cuMemHostGetDevicePointer(&table_of_gpu, table, 0));
    MUST(cuMemsetD8(table_of_gpu, 7, BYTES));
    release(table_of_gpu);
    leave_gpu(0);
    return 0;
}
