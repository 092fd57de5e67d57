/* SPDX-License-Identifier: MIT */
/*
 * The result is read after its buffer was freed. The copy fails; had the memory been given out
 * again, it would read the new owner's data.
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
    (void)cuMemcpyDtoH(&value, sum, sizeof value);
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
