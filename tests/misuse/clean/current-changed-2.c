/* SPDX-License-Identifier: MIT */
/*
 * The library creates a context in its first call and pops it at once, so that the program's own
 * context is current when it returns.
 *
 * module: yes
 */
#include "misuse.h"

void codec_open(void);
void codec_close(void);

#ifdef MODULE
static CUcontext codec;

void codec_open(void)
{
    MUST(cuCtxCreate(&codec, 0, 1));
    MUST(cuCtxPopCurrent(NULL));
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
