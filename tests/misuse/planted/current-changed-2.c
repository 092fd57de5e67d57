/* SPDX-License-Identifier: MIT */
/*
 * The library creates a context in its first call, which cuCtxCreate makes current, and returns.
 * The stream that the program creates next belongs to that context, and dies with it.
 *
 * module: yes
 * expect: CURRENT-CHANGED
 * at: open_stream
 * origin: set choose_gpu
 * origin: pushed codec_open
 * says: current-changed-2 had made another context current
 * says: current there: context 2 of GPU 1, created by current-changed-2.so
 */
#include "misuse.h"

void codec_open(void);
void codec_close(void);

#ifdef MODULE
static CUcontext codec;

void codec_open(void)
{
    MUST(cuCtxCreate(&codec, 0, 1));
}

void codec_close(void)
{
    MUST(cuCtxDestroy(codec));
}
#else
NAMED void choose_gpu(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
}

NAMED CUstream open_stream(void)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

int main(void)
{
    choose_gpu();
    codec_open();
    CUstream stream = open_stream();
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
    codec_close();
    MUST(cuCtxSetCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
#endif
