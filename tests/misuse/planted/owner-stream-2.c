/* SPDX-License-Identifier: MIT */
/*
 * A program with a context of its own takes over the settings of a stream that a library made in
 * the primary context of the same GPU. The GPU is the same, the contexts are not, and the call
 * fails.
 *
 * module: yes
 * expect: OWNER-STREAM
 * at: take_over
 * origin: made solver_stream
 * origin: made open_stream
 * says: stream 1 of GPU 0 belongs to context 1 of GPU 0
 * says: stream 2 of GPU 0 belongs to the primary context of GPU 0
 * origin: pushed main
 * says: current there: context 1 of GPU 0, created by owner-stream-2
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
    MUST(cuCtxCreate(&context, 0, 0));
    CUstream stream = open_stream(), theirs = solver_stream();
    take_over(stream, theirs);
    MUST(cuStreamDestroy(theirs));
    MUST(cuStreamDestroy(stream));
    MUST(cuCtxDestroy(context));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
#endif
