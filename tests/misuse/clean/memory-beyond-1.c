/* SPDX-License-Identifier: MIT */
/* The program gives cuMemsetD32 the number of elements. */
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
    if (cuMemsetD32(values, 0, COUNT) != CUDA_SUCCESS)
        fputs("the values are as they were\n", stderr);
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
