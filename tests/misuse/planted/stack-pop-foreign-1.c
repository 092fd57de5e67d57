/* SPDX-License-Identifier: MIT */
/*
 * A plug-in cleans up and pops "what is left", which is the context that its host pushed. The
 * host goes on in the context below, on another GPU, and no call fails.
 *
 * module: yes
 * expect: STACK-POP-FOREIGN
 * at: plugin_stop
 * origin: pushed render
 */
#include "misuse.h"

void plugin_stop(void);

#ifdef MODULE
void plugin_stop(void)
{
    CUcontext left = NULL;
    MUST(cuCtxGetCurrent(&left));
    if (left != NULL)
        MUST(cuCtxPopCurrent(NULL));
}
#else
static CUcontext display, compute;

NAMED void render(void)
{
    CUdeviceptr image;
    MUST(cuCtxPushCurrent(compute));
    plugin_stop();
    MUST(cuMemAlloc(&image, 4096)); /* on the GPU of the display */
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
    MUST(cuDevicePrimaryCtxRelease(1));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
#endif
