/* SPDX-License-Identifier: MIT */
/*
 * A program loads its kernels in the context of each GPU and launches those of the stream's own
 * context.
 */
#include "misuse.h"

static const char code[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry nothing()\n{\n    ret;\n}\n";
static CUcontext contexts[2];

NAMED CUfunction load(CUmodule *module)
{
    CUfunction function;
    MUST(cuModuleLoadData(module, code));
    MUST(cuModuleGetFunction(&function, *module, "nothing"));
    return function;
}

NAMED CUstream open_stream(int device)
{
    CUstream stream;
    MUST(cuCtxPushCurrent(contexts[device]));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuCtxPopCurrent(NULL));
    return stream;
}

NAMED void launch(CUfunction function, CUstream stream)
{
    if (cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL) != CUDA_SUCCESS)
        fputs("the kernel was not launched\n", stderr);
}

int main(void)
{
    CUstream streams[2];
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++) {
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
        streams[i] = open_stream(i);
    }
    for (int i = 0; i < 2; i++) {
        CUmodule module;
        MUST(cuCtxPushCurrent(contexts[i]));
        launch(load(&module), streams[i]);
        MUST(cuStreamSynchronize(streams[i]));
        MUST(cuStreamDestroy(streams[i]));
        MUST(cuModuleUnload(module));
        MUST(cuCtxPopCurrent(NULL));
    }
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
