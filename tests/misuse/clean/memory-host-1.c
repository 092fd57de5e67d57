/* SPDX-License-Identifier: MIT */
/* The program frees the memory with cuMemFreeHost, by its address on the host. */
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
    if (cuMemFreeHost(table) != CUDA_SUCCESS)
        fputs("the table stays\n", stderr);
    leave_gpu(0);
    return 0;
}
