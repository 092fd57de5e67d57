/* SPDX-License-Identifier: MIT */
/*
 * A transport library makes the context of some memory current to find out which GPU it is on, and
 * leaves it current. The program's next allocation is on that GPU instead of the one that it
 * chose, and no call fails.
 *
 * module: yes
 * expect: CURRENT-CHANGED
 * at: main
 * origin: set main
 * origin: set transport_classify
 */
#include "gpu.h"

int transport_classify(CUdeviceptr pointer);

#ifdef MODULE
int transport_classify(CUdeviceptr pointer)
{
    CUcontext context;
    CUdevice device;
    MUST(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, pointer));
    MUST(cuCtxSetCurrent(context));
    MUST(cuCtxGetDevice(&device));
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
