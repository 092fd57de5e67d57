/* SPDX-License-Identifier: MIT */
/*
 * A library resets the device when it is closed, to leave nothing behind. The primary context is
 * that of the whole process: the memory of the program is gone too.
 *
 * module: yes
 * expect: PRIMARY-RESET
 * at: solver_close
 * origin: held main
 */
#include "misuse.h"

void solver_close(void);

#ifdef MODULE
void solver_close(void)
{
    MUST(cuDevicePrimaryCtxReset(0));
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
    solver_close();
    if (cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, buffer) !=
        CUDA_SUCCESS)
        fputs("the buffer is gone\n", stderr);
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
#endif
