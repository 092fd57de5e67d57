/* SPDX-License-Identifier: MIT */
/* The program retains the context of the GPU that it works on, and no other. */
#include "misuse.h"

NAMED void initialise(void)
{
    MUST(cuInit(0));
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
