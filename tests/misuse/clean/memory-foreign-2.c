/* SPDX-License-Identifier: MIT */
/* Memory of cuMemAllocHost, which is pinned from the first on, is freed with cuMemFreeHost. */
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
    MUST(cuMemFreeHost(staging));
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
