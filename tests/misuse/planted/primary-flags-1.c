/* SPDX-License-Identifier: MIT */
/*
 * A program wants its threads to sleep while they wait for the GPU, and sets the flag after it has
 * retained the primary context. Older drivers refuse the call, and the threads spin; newer ones
 * change the active context for all its users.
 *
 * expect: PRIMARY-FLAGS
 * at: choose_waiting
 * origin: made main
 */
#include "misuse.h"

NAMED void choose_waiting(void)
{
    if (cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC) != CUDA_SUCCESS)
        fputs("threads will spin\n", stderr);
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    choose_waiting();
    MUST(cuCtxPushCurrent(context));
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
