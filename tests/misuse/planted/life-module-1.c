/* SPDX-License-Identifier: MIT */
/*
 * A program loads a module to find out whether its code can be used, and leaves it loaded.
 *
 * options: --leaks --ignore LIFE-CONTEXT
 * expect: LIFE-MODULE
 * at: can_use
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
    return cuModuleGetFunction(&function, module, kernel) == CUDA_SUCCESS;
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0)); /* left to the system, with the process */
    printf("add: %d, sub: %d\n", can_use("add"), can_use("sub"));
    return 0;
}
