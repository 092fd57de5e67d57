/* SPDX-License-Identifier: MIT */
/*
 * A program chooses a GPU by a library that has the name of NVIDIA's runtime library and does
 * what its caller asks for. The context that it makes current is the one that the program wants,
 * as if it had made it current itself.
 *
 * module: libcudart.so.0
 */
#include "misuse.h"

void choose_gpu(CUdevice device);

#ifdef MODULE
void choose_gpu(CUdevice device)
{
    static CUcontext contexts[2];
    if (contexts[device] == NULL)
        MUST(cuDevicePrimaryCtxRetain(&contexts[device], device));
    MUST(cuCtxSetCurrent(contexts[device]));
}
#else
NAMED void work(void)
{
    CUdeviceptr buffer;
    MUST(cuMemAlloc(&buffer, 4096));
    MUST(cuMemsetD8(buffer, 0, 4096));
    MUST(cuMemFree(buffer));
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    for (int i = 0; i < 2; i++) {
        choose_gpu(i);
        work();
    }
    choose_gpu(0);
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
    MUST(cuDevicePrimaryCtxRelease(0));
    MUST(cuDevicePrimaryCtxRelease(1));
    return 0;
}
#endif
