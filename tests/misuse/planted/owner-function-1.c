/* SPDX-License-Identifier: MIT */
/*
 * A program loads its kernel once, in the context of GPU 0, and launches it on both GPUs. A kernel
 * belongs to the context in which its module was loaded: the launch in a stream of GPU 1 fails.
 *
 * expect: OWNER-FUNCTION
 * at: launch
 * origin: made load
 * origin: made launch
 */
#include "misuse.h"

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry nothing()\n{\n    ret;\n}\n";
static CUmodule module;
static CUfunction kernel;

NAMED void load(void)
{
    MUST(cuModuleLoadData(&module, code));
    MUST(cuModuleGetFunction(&kernel, module, "nothing"));
}

NAMED void launch(void)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL) != CUDA_SUCCESS)
        fputs("the kernel was not launched\n", stderr);
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
}

int main(void)
{
    CUcontext contexts[2];
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++) {
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
        MUST(cuCtxPushCurrent(contexts[i]));
        if (i == 0)
            load();
        launch();
        MUST(cuCtxPopCurrent(NULL));
    }
    MUST(cuCtxPushCurrent(contexts[0]));
    MUST(cuModuleUnload(module));
    MUST(cuCtxPopCurrent(NULL));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
