/* SPDX-License-Identifier: MIT */
/* The program releases the context in one place, as often as it retained it. */
#include "misuse.h"

NAMED int work(CUcontext context, size_t bytes)
{
    CUdeviceptr buffer = 0;
    MUST(cuCtxPushCurrent(context));
    CUresult result = cuMemAlloc(&buffer, bytes);
    if (result == CUDA_SUCCESS)
        MUST(cuMemFree(buffer));
    MUST(cuCtxPopCurrent(NULL));
    return result == CUDA_SUCCESS;
}

NAMED int close_gpu(void)
{
    return cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS;
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    int worked = work(context, (size_t)1 << 50);
    int closed = close_gpu();
    printf("worked: %d, closed: %d\n", worked, closed);
    return 0;
}
