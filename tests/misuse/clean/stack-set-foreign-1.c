/* SPDX-License-Identifier: MIT */
/*
 * The library asks for an attribute of the memory that needs no context, and leaves the stack
 * alone.
 *
 * module: yes
 */
#include "gpu.h"

int transport_classify(CUdeviceptr pointer);

#ifdef MODULE
int transport_classify(CUdeviceptr pointer)
{
    CUdevice device;
    MUST(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer));
    return device;
}
#else
NAMED void send(CUcontext context, CUdeviceptr buffer)
{
    MUST(cuCtxPushCurrent(context));
    printf("the buffer is on GPU %d\n", transport_classify(buffer));
    MUST(cuCtxSynchronize()); /* is to wait for GPU 0 */
    MUST(cuCtxPopCurrent(NULL));
}

int main(void)
{
    CUcontext first;
    CUdeviceptr buffer;
    use_gpu(1);
    MUST(cuMemAlloc(&buffer, 64));
    MUST(cuDevicePrimaryCtxRetain(&first, 0));
    send(first, buffer);
    MUST(cuDevicePrimaryCtxRelease(0));
    MUST(cuMemFree(buffer));
    leave_gpu(1);
    return 0;
}
#endif
