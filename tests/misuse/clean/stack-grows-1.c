/* SPDX-License-Identifier: MIT */
/* The loop pops the context when the frame is drawn. */
#include "misuse.h"

static CUcontext context;
static CUdeviceptr image;

NAMED void draw(int frame)
{
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemsetD8(image, (unsigned char)frame, 4096));
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
}

int main(void)
{
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemAlloc(&image, 4096));
    for (int frame = 0; frame < 100; frame++)
        draw(frame);
    MUST(cuMemFree(image));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
