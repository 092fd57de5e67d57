/* SPDX-License-Identifier: MIT */
/*
 * A transport that needs the context of a pointer's memory pushes it and pops it again: the
 * context that the program has chosen is current when it returns.
 *
 * module: yes
 */
#include "misuse.h"

int transport_classify(CUdeviceptr pointer);

#ifdef MODULE
/* The GPU of the memory. */
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
    CUcontext contexts[2];
    CUdeviceptr received, answer;
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
    MUST(cuCtxSetCurrent(contexts[1]));
    MUST(cuMemAlloc(&received, 64));
    MUST(cuCtxSetCurrent(contexts[0]));
    printf("received on GPU %d\n", transport_classify(received));
    MUST(cuMemAlloc(&answer, 64));
    MUST(cuMemFree(answer));
    MUST(cuMemFree(received));
    MUST(cuCtxSetCurrent(NULL));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
#endif
