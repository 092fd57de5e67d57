/* SPDX-License-Identifier: MIT */
/*
 * The threads of a block count themselves in one word of device memory, and not atomically: what
 * the two warps add between their reads and writes is lost.
 *
 * expect: KERNEL-GLOBAL-RACE
 * at: launch
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry count(.param .u64 all, .param .u32 last)\n{\n"
    ".reg .b32 %r<10>; .reg .b64 %rd<6>; .reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [all]; ld.param.u32 %r9, [last]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;\n"
    "ld.global.u32 %r4, [%rd1];\n"
    "add.u32 %r4, %r4, 1;\n"
    "st.global.u32 [%rd1], %r4;\n"
    "ret;\n}\n";

NAMED void launch(CUfunction kernel, CUdeviceptr all, unsigned int last)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&all, &last}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "count");
    MUST(cuMemAlloc(&all, 64 * sizeof(int)));
    MUST(cuMemsetD32(all, 9, 64));
    launch(kernel, all, 0);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
