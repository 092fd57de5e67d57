/* SPDX-License-Identifier: MIT */
/*
 * A step that fails pops what it pushed before it jumps to the handler of errors.
 */
#include "gpu.h"

#include <setjmp.h>

static jmp_buf handler;

NAMED void fail(CUcontext context)
{
    MUST(cuCtxPopCurrent(&context));
    longjmp(handler, 1);
}

NAMED void step(CUcontext other, int number)
{
    MUST(cuCtxPushCurrent(other));
    if (number % 2 != 0)
        fail(other);
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
    MUST(cuDevicePrimaryCtxRelease(1));
    leave_gpu(0);
    return 0;
}
