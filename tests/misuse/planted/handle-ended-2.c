/* SPDX-License-Identifier: MIT */
/*
 * A program unloads its module when it has the kernel. A kernel is part of its module and goes
 * with it: the launch fails.
 *
 * expect: HANDLE-ENDED
 * at: launch
 * origin: made load
 * origin: ended load
 * says: kernel 1 of GPU 0 belongs to context 1 of GPU 0
 * says: kernel 1 of GPU 0 was ended by cuModuleUnload
 */
#include "misuse.h"

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry nothing()\n{\n    ret;\n}\n";
static CUmodule module;

NAMED CUfunction load(void)
{
    CUfunction function;
    MUST(cuModuleLoadData(&module, code));
    MUST(cuModuleGetFunction(&function, module, "nothing"));
    MUST(cuModuleUnload(module));
    return function;
}

NAMED void launch(CUfunction function)
{
    CUresult result = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    puts(result == CUDA_SUCCESS ? "launched" : "not launched");
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    launch(load());
    MUST(cuCtxSynchronize());
    MUST(cuCtxDestroy(context));
    return 0;
}
