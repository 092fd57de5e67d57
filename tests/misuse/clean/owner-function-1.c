/* SPDX-License-Identifier: MIT */
/* The program loads its kernel in the context of each GPU, and launches it there. */
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
        load();
        launch();
        MUST(cuModuleUnload(module));
        MUST(cuCtxPopCurrent(NULL));
    }
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
