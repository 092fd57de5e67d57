/* SPDX-License-Identifier: MIT */
/*
 * Both parts of a program retain the primary context of their device.
 */
#include "misuse.h"

static CUcontext decoder, encoder;

NAMED void open_decoder(void)
{
    MUST(cuDevicePrimaryCtxRetain(&decoder, 0));
}

NAMED void open_encoder(void)
{
    MUST(cuDevicePrimaryCtxRetain(&encoder, 0));
}

NAMED void work_in(CUcontext context)
{
    CUdeviceptr buffer;
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemAlloc(&buffer, 64));
    MUST(cuMemFree(buffer));
    MUST(cuCtxPopCurrent(NULL));
}

int main(void)
{
    MUST(cuInit(0));
    open_decoder();
    open_encoder();
    work_in(decoder);
    work_in(encoder);
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
