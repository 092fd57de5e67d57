/* SPDX-License-Identifier: MIT */
/*
 * A worker sets CUDA_VISIBLE_DEVICES before the driver begins, and goes by the new number.
 */
#include "misuse.h"

NAMED CUdevice open_gpu(const char *number)
{
    CUdevice gpu;
    setenv("CUDA_VISIBLE_DEVICES", number, 1);
    MUST(cuInit(0));
    MUST(cuDeviceGet(&gpu, 0));
    return gpu;
}

int main(void)
{
    CUcontext context;
    MUST(cuCtxCreate(&context, 0, open_gpu("1")));
    MUST(cuDeviceGetCount(&(int){0}));
    MUST(cuCtxDestroy(context));
    return 0;
}
