/* SPDX-License-Identifier: MIT */
/*
 * A block turns a list round in shared memory: each thread writes its number and reads the one of
 * the mirrored thread, which is in the other warp and may not have written it yet.
 *
 * expect: KERNEL-RACE
 * at: launch
 * origin: launched launch
 * says: a write of 4 bytes at offset
 * says: block (0, 0, 0), thread (
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry turn(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    ".shared .align 4 .b32 s[64];\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "mov.u32 %r2, s;\n"
    "mad.lo.u32 %r3, %r1, 4, %r2;\n"
    "st.shared.u32 [%r3], %r1;\n"
    "sub.u32 %r4, 63, %r1;\n"
    "mad.lo.u32 %r5, %r4, 4, %r2;\n"
    "ld.shared.u32 %r6, [%r5];\n"
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
    CUfunction kernel = load(&module, ptx, "turn");
    MUST(cuMemAlloc(&all, 64 * sizeof(int)));
    launch(kernel, all);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
