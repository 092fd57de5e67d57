/* SPDX-License-Identifier: MIT */
/*
 * cuMemsetD32 counts elements, and the program gives it bytes: it asks for four times the buffer.
 * The call fails, or, where other memory follows, overwrites that.
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
    (void)cuMemsetD32(values, 0, COUNT * sizeof(float));
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
