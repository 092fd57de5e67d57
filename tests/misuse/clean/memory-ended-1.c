/* SPDX-License-Identifier: MIT */
/* The program reads the result and then frees the buffer. */
#include "gpu.h"

NAMED void clean_up(CUdeviceptr sum)
{
    MUST(cuMemFree(sum));
}

NAMED int read_sum(CUdeviceptr sum)
{
    int value = 0;
    if (cuMemcpyDtoH(&value, sum, sizeof value) != CUDA_SUCCESS)
        fputs("the sum was not read\n", stderr);
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
