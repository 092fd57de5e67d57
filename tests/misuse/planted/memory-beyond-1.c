/* SPDX-License-Identifier: MIT */
/*
 * cuMemsetD32 counts elements, and the program gives it bytes: it asks for four times the size of
 * the buffer. The call fails or, where another allocation follows, overwrites that.
 *
 * expect: MEMORY-BEYOND
 * at: clear
 * origin: made allocate
 */
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
    if (cuMemsetD32(values, 0, COUNT * sizeof(float)) != CUDA_SUCCESS)
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
