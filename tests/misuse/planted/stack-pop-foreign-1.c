/* SPDX-License-Identifier: MIT */
/*
 * A plug-in cleans up before it stops and pops the context that it finds, which its host pushed.
 * The host goes on in the context below, so its image lies on another GPU, and no call fails.
 *
 * module: yes
 * expect: STACK-POP-FOREIGN
 * at: plugin_stop
 * origin: pushed render
 */
#include "gpu.h"

void plugin_stop(void);

#ifdef MODULE
void plugin_stop(void)
{
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
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
