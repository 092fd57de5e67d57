/* SPDX-License-Identifier: MIT */
/*
 * A plug-in that cleans up pushes its own context and pops it, and leaves what its host pushed.
 *
 * module: yes
 */
#include "misuse.h"

void plugin_stop(void);

#ifdef MODULE
void plugin_stop(void)
{
    CUcontext own;
    MUST(cuDevicePrimaryCtxRetain(&own, 0));
    MUST(cuCtxPushCurrent(own));
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
}
#else
static CUcontext display, compute;

NAMED void render(void)
{
    CUdeviceptr image;
    MUST(cuCtxPushCurrent(compute));
    plugin_stop();
    MUST(cuMemAlloc(&image, 4096));
    MUST(cuMemsetD8(image, 0, 4096));
    MUST(cuMemFree(image));
    MUST(cuCtxPopCurrent(NULL));
}

int main(void)
{
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&display, 0));
    MUST(cuDevicePrimaryCtxRetain(&compute, 1));
    MUST(cuCtxSetCurrent(display));
    render();
    MUST(cuCtxSetCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(1));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
#endif
