/* SPDX-License-Identifier: MIT */
/*
 * A program keeps its module as long as it launches a kernel of it.
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
    MUST(cuModuleUnload(module));
    MUST(cuCtxDestroy(context));
    return 0;
}
