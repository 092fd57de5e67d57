/* SPDX-License-Identifier: MIT */
/*
 * A transport finds out what a pointer is by making the context of its memory current, and leaves
 * it current. The caller had pushed another one: it works on the wrong GPU from there on.
 *
 * module: yes
 * expect: STACK-SET-FOREIGN
 * at: transport_classify
 * origin: pushed send
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
NAMED void send(CUcontext context, CUdeviceptr buffer)
{
    MUST(cuCtxPushCurrent(context));
    printf("the buffer is on GPU %d\n", transport_classify(buffer));
    MUST(cuCtxSynchronize()); /* waits for another GPU than it means */
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
