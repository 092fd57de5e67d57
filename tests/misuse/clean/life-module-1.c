/* SPDX-License-Identifier: MIT */
/* The program unloads the module when it knows, and destroys the context at its end. */
#include "misuse.h"

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry add()\n{\n    ret;\n}\n";

NAMED int has_kernel(const char *name)
{
    CUmodule module;
    CUfunction function;
    MUST(cuModuleLoadData(&module, code));
    CUresult result = cuModuleGetFunction(&function, module, name);
    MUST(cuModuleUnload(module));
    return result == CUDA_SUCCESS;
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    puts(has_kernel("add") ? "it has add" : "it has no add");
    MUST(cuCtxDestroy(context));
    return 0;
}
