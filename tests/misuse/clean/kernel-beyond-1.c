/* SPDX-License-Identifier: MIT */
/*
 * The list has room for the mark.
 *
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry mark(.param .u64 all, .param .u32 last)\n{\n"
    ".reg .b32 %r<10>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
    ".shared .align 4 .b32 list[32]; .shared .align 4 .b32 sums[32];\n"
    "ld.param.u64 %rd1, [all]; ld.param.u32 %r9, [last]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "mov.u32 %r2, list; mov.u32 %r3, sums;\n"
    "mad.lo.u32 %r4, %r1, 4, %r2; mad.lo.u32 %r5, %r1, 4, %r3;\n"
    "st.shared.u32 [%r4], %r1; st.shared.u32 [%r5], %r1;\n"
    "bar.sync 0;\n"
    "setp.ne.u32 %p1, %r1, 0;\n"
    "@%p1 bra READ;\n"
    "mad.lo.u32 %r6, %r9, 4, %r2;\n"
    "st.shared.u32 [%r6], -1;\n"
    "READ: bar.sync 0;\n"
    "ld.shared.u32 %r7, [%r5]; ld.shared.u32 %r8, [%r4]; add.u32 %r7, %r7, %r8;\n"
    "st.global.u32 [%rd1], %r7;\n"
    "ret;\n}\n";

NAMED void launch(CUfunction kernel, CUdeviceptr all, unsigned int last)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&all, &last}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "mark");
    MUST(cuMemAlloc(&all, 32 * sizeof(int)));
    launch(kernel, all, 31);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
