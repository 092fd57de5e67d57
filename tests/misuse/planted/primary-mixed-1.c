/* SPDX-License-Identifier: MIT */
/*
 * A program creates a context of its own on a device whose primary context a library uses. The two
 * contexts share no memory, streams or kernels, and their work does not run at the same time.
 *
 * module: yes
 * options: --notes
 * expect: PRIMARY-MIXED
 * at: main
 * origin: made blas_open
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
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuMemAlloc(&matrix, 4096));
    MUST(cuMemFree(matrix));
    MUST(cuCtxDestroy(context));
    blas_close();
    return 0;
}
#endif
