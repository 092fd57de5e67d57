/* SPDX-License-Identifier: MIT */
/*
 * The bound is the number of threads.
 *
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry fill(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    ".reg .pred %p<2>;\n"
    ".shared .align 4 .b32 s[64];\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "mov.u32 %r2, s;\n"
    "mad.lo.u32 %r3, %r1, 4, %r2;\n"
    "setp.lt.u32 %p1, %r1, 64;\n"
    "@%p1 st.shared.u32 [%r3], %r1;\n"
    "bar.sync 0;\n"
    "ld.shared.u32 %r6, [%r3];\n"
    "st.global.u32 [%rd1], %r6;\n"
    "ret;\n"
    "}\n";

NAMED void launch(CUfunction kernel, CUdeviceptr all)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&all}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "fill");
    MUST(cuMemAlloc(&all, 64 * sizeof(int)));
    launch(kernel, all);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
