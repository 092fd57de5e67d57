/* SPDX-License-Identifier: MIT */
/*
 * A transport library makes the context of some memory current to find out which GPU it is on.
 * This replaces the context that its caller has pushed: from here on the caller works on the wrong
 * GPU.
 *
 * module: yes
 * expect: STACK-SET-FOREIGN
 * at: transport_classify
 * origin: pushed send
 */
#include "gpu.h"

int transport_classify(CUdeviceptr pointer);

#ifdef MODULE
int transport_classify(CUdeviceptr pointer)
{
    CUdevice device;
    CUcontext context;
    MUST(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, pointer));
    MUST(cuCtxSetCurrent(context));
    MUST(cuCtxGetDevice(&device));
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
