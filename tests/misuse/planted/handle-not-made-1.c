/* SPDX-License-Identifier: MIT */
/*
 * A program loads a module whose code has an error, and does not look at the result. The module is
 * NULL, and the second call fails with an error that says nothing about the code.
 *
 * expect: HANDLE-NOT-MADE
 * at: load
 * origin: made load
 */
#include "misuse.h"

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry add()\n{\n    add.what;\n    ret;\n}\n";

NAMED CUfunction load(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    cuModuleLoadData(&module, code);
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
