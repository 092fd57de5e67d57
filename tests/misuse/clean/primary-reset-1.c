/* SPDX-License-Identifier: MIT */
/*
 * The library releases what it retained, and leaves the device to the others.
 *
 * module: yes
 */
#include "misuse.h"

void solver_open(void);
void solver_close(void);

#ifdef MODULE
void solver_open(void)
{
    CUcontext context;
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
}

void solver_close(void)
{
    MUST(cuDevicePrimaryCtxRelease(0));
}
#else
int main(void)
{
    CUcontext context;
    CUdeviceptr buffer;
    CUdevice device;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemAlloc(&buffer, 4096));
    MUST(cuCtxPopCurrent(NULL));
    solver_open();
    solver_close();
    if (cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, buffer) != CUDA_SUCCESS)
        fputs("the buffer is gone\n", stderr);
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemFree(buffer));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
#endif
