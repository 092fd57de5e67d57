/* SPDX-License-Identifier: MIT */
/* The program looks at the result of the first call, and reports the error where it is. */
#include "misuse.h"

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry add()\n{\n    add.what;\n    ret;\n}\n";

NAMED CUfunction load(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    if (cuModuleLoadData(&module, code) != CUDA_SUCCESS) {
        fputs("the code cannot be loaded\n", stderr);
        return NULL;
    }
    if (cuModuleGetFunction(&function, module, "add") != CUDA_SUCCESS)
        fputs("there is no kernel add\n", stderr);
    return function;
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    puts(load() != NULL ? "loaded" : "not loaded");
    MUST(cuCtxDestroy(context));
    return 0;
}
