/* SPDX-License-Identifier: MIT */
/* The result is read first, and its buffer is freed afterwards. */
#include "gpu.h"

NAMED void clean_up(CUdeviceptr sum)
{
    MUST(cuMemFree(sum));
}

NAMED int read_sum(CUdeviceptr sum)
{
    int value = 0;
    MUST(cuMemcpyDtoH(&value, sum, sizeof value));
    return value;
}

int main(void)
{
    CUdeviceptr sum;
    use_gpu(0);
    MUST(cuMemAlloc(&sum, sizeof(int)));
    MUST(cuMemsetD32(sum, 42, 1));
    printf("the sum is %d\n", read_sum(sum));
    clean_up(sum);
    leave_gpu(0);
    return 0;
}
