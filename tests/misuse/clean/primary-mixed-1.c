/* SPDX-License-Identifier: MIT */
/*
 * The program works in the primary context, as the library does.
 *
 * module: yes
 */
#include "misuse.h"

void blas_open(void);
void blas_close(void);

#ifdef MODULE
void blas_open(void)
{
    CUcontext context;
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
}

void blas_close(void)
{
    MUST(cuDevicePrimaryCtxRelease(0));
}
#else
int main(void)
{
    CUcontext context;
    CUdeviceptr matrix;
    MUST(cuInit(0));
    blas_open();
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemAlloc(&matrix, 4096));
    MUST(cuMemFree(matrix));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
    blas_close();
    return 0;
}
#endif
