/* SPDX-License-Identifier: MIT */
/*
 * Memory of cuMemAllocHost is pinned by its allocation, and the program ends it with
 * cuMemHostUnregister, which ends what cuMemHostRegister pinned. The call fails, and the memory is
 * leaked.
 *
 * expect: MEMORY-FOREIGN
 * at: drop_staging
 * origin: made make_staging
 * says: 65536 bytes of pinned memory belongs to the primary context of GPU 0
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

NAMED void *make_staging(void)
{
    void *staging;
    MUST(cuMemAllocHost(&staging, BYTES));
    return staging;
}

NAMED void drop_staging(void *staging)
{
    (void)cuMemHostUnregister(staging);
}

int main(void)
{
    CUdeviceptr data;
    use_gpu(0);
    void *staging = make_staging();
    MUST(cuMemAlloc(&data, BYTES));
    MUST(cuMemsetD8(data, 0, BYTES));
    MUST(cuMemcpyDtoH(staging, data, BYTES));
    drop_staging(staging);
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
