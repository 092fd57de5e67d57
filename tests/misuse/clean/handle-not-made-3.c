/* SPDX-License-Identifier: MIT */
/*
 * A program takes a GPU for each worker, by the worker's number, and does without one where there
 * are fewer.
 */
#include "misuse.h"

NAMED CUcontext create(CUdevice device)
{
    CUcontext context;
    return cuCtxCreate(&context, 0, device) == CUDA_SUCCESS ? context : NULL;
}

int main(void)
{
    int count;
    MUST(cuInit(0));
    MUST(cuDeviceGetCount(&count));
    puts(create(count) != NULL ? "begun" : "without a GPU");
    return 0;
}
