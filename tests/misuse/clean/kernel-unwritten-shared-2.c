/* SPDX-License-Identifier: MIT */
/*
 * The first thread sets the sum to 0, and all wait for that.
 *
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry add_up(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    ".reg .pred %p<2>;\n"
    ".shared .align 4 .b32 sum;\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "setp.eq.u32 %p1, %r1, 0;\n"
    "@%p1 st.shared.u32 [sum], 0;\n"
    "bar.sync 0;\n"
    "atom.shared.add.u32 %r3, [sum], %r1;\n"
    "bar.sync 0;\n"
    "ld.shared.u32 %r6, [sum];\n"
    "st.global.u32 [%rd1], %r6;\n"
    "ret;\n"
    "}\n";

NAMED void add_up(CUfunction kernel, CUdeviceptr all)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&all}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "add_up");
    MUST(cuMemAlloc(&all, 64 * sizeof(int)));
    add_up(kernel, all);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
