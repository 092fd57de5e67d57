/* SPDX-License-Identifier: MIT */
/*
 * A program sets a limit from a host function, as soon as the work before it is done.
 *
 * expect: PROCESS-CALLBACK
 * at: set_limit
 * driver: threads lazy random:1
 */
#include "gpu.h"

static int accepted;

NAMED int set_limit(CUlimit limit, size_t value)
{
    return cuCtxSetLimit(limit, value) == CUDA_SUCCESS;
}

NAMED void when_done(void *unused)
{
    (void)unused;
    accepted += set_limit(CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20);
}

int main(void)
{
    use_gpu(0);
    MUST(cuLaunchHostFunc(NULL, when_done, NULL));
    MUST(cuCtxSynchronize());
    printf("%d limits were accepted\n", accepted);
    leave_gpu(0);
    return 0;
}
