/* SPDX-License-Identifier: MIT */
/*
 * The number is stored in the last 4 bytes of the block.
 *
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b64 r) malloc (.param .b64 size);\n"
    ".extern .func free (.param .b64 p);\n"
    ".visible .entry store_last(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    ".reg .b64 %h<4>;\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "{ .param .b64 s; .param .b64 r; st.param.b64 [s], 8;\n"
    "call.uni (r), malloc, (s); ld.param.b64 %h1, [r]; }\n"
    "st.u32 [%h1+4], %r1;\n"
    "{ .param .b64 p; st.param.b64 [p], %h1; call.uni free, (p); }\n"
    "ret;\n"
    "}\n";

NAMED void store(CUfunction kernel, CUdeviceptr all)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&all}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "store_last");
    MUST(cuMemAlloc(&all, 32 * sizeof(int)));
    store(kernel, all);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
