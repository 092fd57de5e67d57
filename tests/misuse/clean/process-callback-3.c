/* SPDX-License-Identifier: MIT */
/*
 * A program sets all limits that the driver lets it set. Some are fixed: the call is not permitted,
 * and that it was made from a host function is not the reason.
 */
#include "gpu.h"

static int accepted;

NAMED int set_limit(CUlimit limit, size_t value)
{
    return cuCtxSetLimit(limit, value) == CUDA_SUCCESS;
}

int main(void)
{
    use_gpu(0);
    for (int limit = 0; limit < 9; limit++)
        accepted += set_limit((CUlimit)limit, 4096);
    MUST(cuCtxSynchronize());
    printf("%d limits were accepted\n", accepted);
    leave_gpu(0);
    return 0;
}
