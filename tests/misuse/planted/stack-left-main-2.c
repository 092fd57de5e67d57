/* SPDX-License-Identifier: MIT */
/*
 * A step that fails jumps to the handler of errors, past the pop. What comes next works on the
 * wrong device.
 *
 * options: --notes
 * expect: STACK-LEFT-MAIN
 * at: step
 */
#include "gpu.h"

#include <setjmp.h>

static jmp_buf handler;

NAMED void step(CUcontext other, int number)
{
    MUST(cuCtxPushCurrent(other));
    if (number % 2 != 0)
        longjmp(handler, 1);
    MUST(cuCtxPopCurrent(&other));
}

int main(void)
{
    CUcontext own = use_gpu(0), other;
    MUST(cuDevicePrimaryCtxRetain(&other, 1));
    for (volatile int i = 0; i < 4; i++)
        if (setjmp(handler) == 0)
            step(other, i);
    MUST(cuCtxSetCurrent(own));
    MUST(cuCtxSynchronize());
    return 0;
}
