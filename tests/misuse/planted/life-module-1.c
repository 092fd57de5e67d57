/* SPDX-License-Identifier: MIT */
/*
 * A program loads a module to find out whether it has a kernel, and leaves the module loaded.
 *
 * options: --leaks --ignore LIFE-CONTEXT
 * expect: LIFE-MODULE
 * at: has_kernel
 */
#include "misuse.h"

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry add()\n{\n    ret;\n}\n";

NAMED int has_kernel(const char *name)
{
    CUmodule module;
    CUfunction function;
    MUST(cuModuleLoadData(&module, code));
    CUresult result = cuModuleGetFunction(&function, module, name);
    return result == CUDA_SUCCESS;
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    puts(has_kernel("add") ? "it has add" : "it has no add");
    return 0;
}
