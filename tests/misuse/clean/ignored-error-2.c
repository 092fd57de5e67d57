/* SPDX-License-Identifier: MIT */
/*
 * A program registers each part of its buffer once, looks at the results, and unregisters both.
 */
#include "misuse.h"

enum { BYTES = 8192 };
static _Alignas(4096) char data[BYTES];

NAMED void upload(CUdeviceptr destination)
{
    CUresult result = cuMemHostRegister(data + 4096, BYTES - 4096, 0);
    MUST(cuMemcpyHtoD(destination, data, 4096));
    MUST(cuMemcpyHtoD(destination + 4096, data + 4096, BYTES - 4096));
    if (result == CUDA_SUCCESS)
        MUST(cuMemHostUnregister(data + 4096));
}

int main(void)
{
    CUcontext context;
    CUdeviceptr destination;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuMemAlloc(&destination, BYTES));
    MUST(cuMemHostRegister(data, 4096, 0)); /* the header, for another part of the program */
    upload(destination);
    MUST(cuMemHostUnregister(data));
    MUST(cuMemFree(destination));
    MUST(cuCtxDestroy(context));
    return 0;
}
