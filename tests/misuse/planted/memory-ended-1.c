/* SPDX-License-Identifier: MIT */
/*
 * A program reads its result after it has freed the buffer. The copy fails; if the memory had been
 * given to another allocation in between, it would read the bytes of that one.
 *
 * expect: MEMORY-ENDED
 * at: read_sum
 * origin: made main
 * origin: ended clean_up
 */
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
    clean_up(sum);
    printf("the sum is %d\n", read_sum(sum));
    leave_gpu(0);
    return 0;
}
