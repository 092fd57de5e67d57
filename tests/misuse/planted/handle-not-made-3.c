/* SPDX-License-Identifier: MIT */
/*
 * A program takes the first GPU for each worker, by the worker's number, and goes on with what the
 * variable of the context had before where there are fewer GPUs.
 *
 * expect: HANDLE-NOT-MADE
 * at: begin
 * origin: made create
 * says: cuCtxCreate_v2 had failed: CUDA_ERROR_INVALID_DEVICE
 */
#include "misuse.h"

static char nothing; /* its address is no context */

NAMED CUcontext create(CUdevice device)
{
    CUcontext context = (CUcontext)&nothing;
    (void)cuCtxCreate(&context, 0, device);
    return context;
}

NAMED int begin(CUcontext context)
{
    return cuCtxPushCurrent(context) == CUDA_SUCCESS;
}

int main(void)
{
    int count;
    MUST(cuInit(0));
    MUST(cuDeviceGetCount(&count));
    puts(begin(create(count)) ? "begun" : "not begun");
    return 0;
}
