/* SPDX-License-Identifier: MIT */
/*
 * A transport finds out what a pointer is by making the context of its memory current, and leaves
 * it current. What the program allocates next lies on another GPU than it has chosen, and no call
 * fails.
 *
 * module: yes
 * expect: CURRENT-CHANGED
 * at: main
 * origin: set main
 * origin: set transport_classify
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
    MUST(cuCtxSetCurrent(context));
    MUST(cuCtxGetDevice(&device));
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
    MUST(cuMemAlloc(&answer, 64)); /* meant for GPU 0 */
    MUST(cuMemFree(answer));
    MUST(cuMemFree(received));
    MUST(cuCtxSetCurrent(NULL));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
#endif
