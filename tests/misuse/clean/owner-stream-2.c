/* SPDX-License-Identifier: MIT */
/*
 * A program works in the primary context, as the library does, and takes over the settings of the
 * library's stream.
 *
 * module: yes
 */
#include "misuse.h"

CUstream solver_stream(void);

#ifdef MODULE
CUstream solver_stream(void)
{
    CUcontext context;
    CUstream stream;
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuCtxPopCurrent(NULL));
    return stream;
}
#else
NAMED CUstream open_stream(void)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

NAMED void take_over(CUstream to, CUstream from)
{
    if (cuStreamCopyAttributes(to, from) != CUDA_SUCCESS)
        fputs("the settings are as they were\n", stderr);
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    CUstream stream = open_stream(), theirs = solver_stream();
    take_over(stream, theirs);
    MUST(cuStreamDestroy(theirs));
    MUST(cuStreamDestroy(stream));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0)); /* once for the library */
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
#endif
