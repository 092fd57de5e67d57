/* SPDX-License-Identifier: MIT */
/*
 * A program caches a kernel for each GPU, and finds the one of the context that is current.
 */
#include "misuse.h"

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry clear()\n{\n    ret;\n}\n";
static CUmodule modules[2];

NAMED CUfunction kernel(void)
{
    static CUfunction cached[2];
    CUdevice device;
    MUST(cuCtxGetDevice(&device));
    if (cached[device] == NULL) {
        MUST(cuModuleLoadData(&modules[device], code));
        MUST(cuModuleGetFunction(&cached[device], modules[device], "clear"));
    }
    return cached[device];
}

NAMED int clear(void)
{
    return cuLaunchKernel(kernel(), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS;
}

NAMED void solve(CUcontext context)
{
    MUST(cuCtxPushCurrent(context));
    puts(clear() ? "cleared" : "not cleared");
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
}

int main(void)
{
    CUcontext contexts[2];
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
    for (int i = 0; i < 2; i++)
        solve(contexts[i]);
    for (int i = 0; i < 2; i++) {
        MUST(cuCtxPushCurrent(contexts[i]));
        MUST(cuModuleUnload(modules[i]));
        MUST(cuCtxPopCurrent(NULL));
        MUST(cuDevicePrimaryCtxRelease(i));
    }
    return 0;
}
