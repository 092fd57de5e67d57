/* SPDX-License-Identifier: MIT */
/*
 * A player sets its context and asks a library for a frame. The library pops a context when it is
 * done, though it pushed none: it takes the player's, whose next call fails.
 *
 * expect: CURRENT-NONE
 * at: show
 * origin: emptied decode
 * origin: set start
 * says: cuCtxPopCurrent_v2 took the primary context of GPU 0 off the stack
 * module: yes
 */
#include "gpu.h"

void decode(CUdeviceptr frame);

#ifdef MODULE

void decode(CUdeviceptr frame)
{
    CUcontext context;
    MUST(cuMemsetD8(frame, 1, 64));
    MUST(cuCtxPopCurrent(&context));
}

#else

NAMED CUdeviceptr start(void)
{
    CUcontext context;
    CUdeviceptr frame;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAlloc(&frame, 64));
    return frame;
}

NAMED CUresult show(CUdeviceptr frame)
{
    char pixels[64];
    return cuMemcpyDtoH(pixels, frame, sizeof pixels);
}

int main(void)
{
    CUdeviceptr frame = start();
    decode(frame);
    puts(show(frame) == CUDA_SUCCESS ? "shown" : "not shown");
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}

#endif
