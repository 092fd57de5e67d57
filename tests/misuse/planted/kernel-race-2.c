/* SPDX-License-Identifier: MIT */
/*
 * The threads of a block add up their numbers in one word of shared memory. Each reads the sum,
 * adds its number and writes the sum back: additions of another warp between the two are lost.
 *
 * expect: KERNEL-RACE
 * at: add_up
 * origin: launched add_up
 * says: of shared memory
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry add_up(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    ".shared .align 4 .b32 sum;\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "mov.u32 %r2, 0;\n"
    "st.shared.u32 [sum], %r2;\n"
    "bar.sync 0;\n"
    "ld.shared.u32 %r3, [sum];\n"
    "add.u32 %r3, %r3, %r1;\n"
    "st.shared.u32 [sum], %r3;\n"
    "bar.sync 0;\n"
    "ld.shared.u32 %r6, [sum];\n"
    "st.global.u32 [%rd1], %r6;\n"
    "ret;\n"
    "}\n";

NAMED void add_up(CUfunction kernel, CUdeviceptr all)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 96, 1, 1, 0, NULL, (void *[]){&all}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "add_up");
    MUST(cuMemAlloc(&all, 96 * sizeof(int)));
    add_up(kernel, all);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
