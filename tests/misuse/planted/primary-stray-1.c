/* SPDX-License-Identifier: MIT */
/*
 * A program is told to work on GPU 1, and an initialisation that does not know this retains the
 * primary context of GPU 0. Each process of the machine now has a context on GPU 0, of some
 * hundred MB each, in which it does nothing.
 *
 * expect: PRIMARY-STRAY
 * at: initialise
 */
#include "misuse.h"

NAMED void initialise(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
}

NAMED void work_on(CUdevice device)
{
    CUcontext context;
    CUdeviceptr buffer;
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemAlloc(&buffer, 4096));
    MUST(cuMemsetD8(buffer, 0, 4096));
    MUST(cuMemFree(buffer));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(device));
}

int main(void)
{
    initialise();
    work_on(1);
    return 0;
}
