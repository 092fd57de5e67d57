/* SPDX-License-Identifier: MIT */
/*
 * A program loads a module to find out whether its code can be used, and unloads it when it
 * knows.
 */
#include "misuse.h"

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry add()\n{\n    ret;\n}\n";

NAMED int can_use(const char *kernel)
{
    CUmodule module;
    CUfunction function;
    if (cuModuleLoadData(&module, code) != CUDA_SUCCESS)
        return 0;
    CUresult result = cuModuleGetFunction(&function, module, kernel);
    MUST(cuModuleUnload(module));
    return result == CUDA_SUCCESS;
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    printf("add: %d, sub: %d\n", can_use("add"), can_use("sub"));
    MUST(cuCtxDestroy(context));
    return 0;
}
