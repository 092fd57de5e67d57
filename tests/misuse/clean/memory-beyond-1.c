/* SPDX-License-Identifier: MIT */
/* The count of cuMemsetD32 is one of elements, so the fill ends where the buffer ends. */
#include "gpu.h"

enum { COUNT = 1 << 20 };

NAMED CUdeviceptr allocate(void)
{
    CUdeviceptr values;
    MUST(cuMemAlloc(&values, COUNT * sizeof(float)));
    return values;
}

NAMED void clear(CUdeviceptr values)
{
    MUST(cuMemsetD32(values, 0, COUNT));
}

int main(void)
{
    use_gpu(0);
    CUdeviceptr values = allocate();
    clear(values);
    MUST(cuMemFree(values));
    leave_gpu(0);
    return 0;
}
