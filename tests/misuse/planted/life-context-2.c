/* SPDX-License-Identifier: MIT */
/*
 * A program takes a context off the stack and believes that it is gone. A pop ends nothing: the
 * context of each test lives on.
 *
 * options: --leaks
 * expect: LIFE-CONTEXT
 * at: test
 * origin: made test
 * says: context 1 of GPU 0
 */
#include "misuse.h"

NAMED int test(CUdevice device)
{
    CUcontext context;
    CUdeviceptr buffer;
    MUST(cuCtxCreate(&context, 0, device));
    CUresult result = cuMemAlloc(&buffer, 64);
    if (result == CUDA_SUCCESS)
        result = cuMemFree(buffer);
    MUST(cuCtxPopCurrent(&context));
    return result == CUDA_SUCCESS;
}

int main(void)
{
    int passed = 0;
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        passed += test(i);
    printf("%d of 2 GPUs passed\n", passed);
    return 0;
}
