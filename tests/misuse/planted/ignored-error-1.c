/* SPDX-License-Identifier: MIT */
/*
 * A program makes three calls and looks only at the result of the last. The global variable that
 * it asks for has another name, so the second call fails, and the variable keeps its default.
 *
 * options: --notes
 * expect: IGNORED-ERROR
 * at: set_up
 * origin: next set_up
 */
#include "misuse.h"

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .global .u32 limit = 7;\n"
                           ".visible .entry scale()\n{\n    ret;\n}\n";
static CUmodule module;

NAMED CUfunction set_up(void)
{
    CUfunction function = NULL;
    CUdeviceptr limit = 0;
    size_t bytes;
    CUresult result = cuModuleLoadData(&module, code);
    result = cuModuleGetGlobal(&limit, &bytes, module, "limits");
    result = cuModuleGetFunction(&function, module, "scale");
    if (result != CUDA_SUCCESS)
        return NULL;
    if (limit != 0)
        MUST(cuMemsetD32(limit, 100, 1));
    return function;
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    puts(set_up() != NULL ? "set up" : "not set up");
    MUST(cuCtxDestroy(context));
    return 0;
}
