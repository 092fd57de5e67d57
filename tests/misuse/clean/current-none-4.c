/* SPDX-License-Identifier: MIT */
/*
 * A player sets its context and asks a library for a frame. The library works in the context that
 * is current and leaves the stack alone.
 *
 * module: yes
 */
#include "gpu.h"

void decode(CUdeviceptr frame);

#ifdef MODULE

void decode(CUdeviceptr frame)
{
    MUST(cuMemsetD8(frame, 1, 64));
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
    MUST(cuMemFree(frame));
    MUST(cuCtxSetCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}

#endif
