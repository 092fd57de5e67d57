/* SPDX-License-Identifier: MIT */
/*
 * A transport finds out what a pointer is by an attribute of the pointer that needs no context,
 * and leaves the stack alone.
 *
 * module: yes
 */
#include "misuse.h"

int transport_classify(CUdeviceptr pointer);

#ifdef MODULE
/* The GPU of the memory. */
int transport_classify(CUdeviceptr pointer)
{
    int device;
    MUST(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer));
    return device;
}
#else
NAMED void send(CUcontext context, CUdeviceptr buffer)
{
    MUST(cuCtxPushCurrent(context));
    printf("the buffer is on GPU %d\n", transport_classify(buffer));
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
}

int main(void)
{
    CUcontext contexts[2];
    CUdeviceptr buffer;
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
    MUST(cuCtxPushCurrent(contexts[1]));
    MUST(cuMemAlloc(&buffer, 64));
    send(contexts[0], buffer);
    MUST(cuMemFree(buffer));
    MUST(cuCtxPopCurrent(NULL));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
#endif
