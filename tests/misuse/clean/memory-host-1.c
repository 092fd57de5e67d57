/* SPDX-License-Identifier: MIT */
/* Pinned memory of the host is freed with cuMemFreeHost, by its address of the host. */
#include "gpu.h"

enum { BYTES = 4096 };

NAMED void *make_table(void)
{
    void *table;
    MUST(cuMemHostAlloc(&table, BYTES, CU_MEMHOSTALLOC_DEVICEMAP));
    return table;
}

NAMED void release(void *table)
{
    MUST(cuMemFreeHost(table));
}

int main(void)
{
    CUdeviceptr table_of_gpu;
    use_gpu(0);
    void *table = make_table();
    MUST(cuMemHostGetDevicePointer(&table_of_gpu, table, 0));
    MUST(cuMemsetD8(table_of_gpu, 7, BYTES));
    MUST(cuCtxSynchronize());
    release(table);
    leave_gpu(0);
    return 0;
}
