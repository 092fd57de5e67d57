/* SPDX-License-Identifier: MIT */
/*
 * The library pushes the context of the memory and pops it again. The program's own context is
 * current when it returns.
 *
 * module: yes
 */
#include "gpu.h"

int transport_classify(CUdeviceptr pointer);

#ifdef MODULE
int transport_classify(CUdeviceptr pointer)
{
    CUcontext context;
    CUdevice device;
    MUST(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, pointer));
    MUST(cuCtxPushCurrent(context));
    MUST(cuCtxGetDevice(&device));
    MUST(cuCtxPopCurrent(NULL));
    return device;
}
#else
int main(void)
{
    CUcontext first;
    CUdeviceptr received, answer;
    use_gpu(1);
    MUST(cuMemAlloc(&received, 64));
    MUST(cuDevicePrimaryCtxRetain(&first, 0));
    MUST(cuCtxSetCurrent(first));
    printf("received on GPU %d\n", transport_classify(received));
    MUST(cuMemAlloc(&answer, 64)); /* is to be on GPU 0 */
    MUST(cuMemFree(answer));
    MUST(cuMemFree(received));
    leave_gpu(1);
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
#endif
