/* SPDX-License-Identifier: MIT */
/*
 * The plug-in waits for its work and leaves the stack as it was.
 *
 * module: yes
 */
#include "gpu.h"

void plugin_stop(void);

#ifdef MODULE
void plugin_stop(void)
{
    MUST(cuCtxSynchronize());
}
#else
static CUcontext compute;

NAMED void render(void)
{
    CUdeviceptr image;
    MUST(cuCtxPushCurrent(compute));
    plugin_stop();
    MUST(cuMemAlloc(&image, 4096)); /* is to be on GPU 1 */
    MUST(cuMemFree(image));
    MUST(cuCtxPopCurrent(NULL));
}

int main(void)
{
    use_gpu(0);
    MUST(cuDevicePrimaryCtxRetain(&compute, 1));
    render();
    MUST(cuDevicePrimaryCtxRelease(1));
    leave_gpu(0);
    return 0;
}
#endif
