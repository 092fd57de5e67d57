/* SPDX-License-Identifier: MIT */
/* The program sets the flag before the first retain. */
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
    choose_waiting();
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
