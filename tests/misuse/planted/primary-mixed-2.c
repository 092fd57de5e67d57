/* SPDX-License-Identifier: MIT */
/*
 * One part of a program creates a context for its device, another part retains the primary
 * context of the same device. Both have their memory there, and a stream of one is of no use to
 * the other.
 *
 * options: --notes
 * expect: PRIMARY-MIXED
 * at: open_encoder
 * origin: made open_decoder
 * says: context 1 of GPU 0
 * origin: made open_encoder
 * says: the primary context of GPU 0
 */
#include "misuse.h"

static CUcontext decoder, encoder;

NAMED void open_decoder(void)
{
    MUST(cuCtxCreate(&decoder, 0, 0));
    MUST(cuCtxPopCurrent(NULL));
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
    MUST(cuDevicePrimaryCtxRelease(0));
    MUST(cuCtxDestroy(decoder));
    return 0;
}
