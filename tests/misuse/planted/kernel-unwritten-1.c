/* SPDX-License-Identifier: MIT */
/*
 * A kernel doubles all numbers of a list, but only the first half of it was filled.
 *
 * expect: KERNEL-UNWRITTEN
 * at: double_numbers
 * origin: launched double_numbers
 * origin: made main
 * says: thread (32, 0, 0): a read of 4 bytes
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry twice(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r2, [%rd1];\n"
    "shl.b32 %r2, %r2, 1;\n"
    "st.global.u32 [%rd1], %r2;\n"
    "ret;\n"
    "}\n";

NAMED void double_numbers(CUfunction kernel, CUdeviceptr all)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&all}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "twice");
    MUST(cuMemAlloc(&all, 64 * sizeof(int)));
    MUST(cuMemsetD32(all, 1, 32));
    double_numbers(kernel, all);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
