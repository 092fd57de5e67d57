/* SPDX-License-Identifier: MIT */
/*
 * A program is told to work on the second GPU, and an initialisation that knows nothing of this
 * retains device 0. Each process of a machine then has a context on GPU 0, some hundred MB each,
 * and it does nothing there.
 *
 * expect: PRIMARY-STRAY
 * at: initialise
 */
#include "misuse.h"

NAMED void initialise(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0)); /* "any device will do" */
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
