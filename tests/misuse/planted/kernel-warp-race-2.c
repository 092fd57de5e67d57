/* SPDX-License-Identifier: MIT */
/*
 * The first lane of a warp writes the time of the start for all lanes. The others may read it
 * before it is there.
 *
 * expect: KERNEL-WARP-RACE
 * at: note_start
 * origin: launched note_start
 * says: thread (0, 0, 0): a write of 4 bytes
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry note_start(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    ".reg .pred %p<2>;\n"
    ".shared .align 4 .b32 start;\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "setp.eq.u32 %p1, %r1, 0;\n"
    "mov.u32 %r2, %clock;\n"
    "@%p1 st.shared.u32 [start], %r2;\n"
    "ld.shared.u32 %r6, [start];\n"
    "st.global.u32 [%rd1], %r6;\n"
    "ret;\n"
    "}\n";

NAMED void note_start(CUfunction kernel, CUdeviceptr all)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&all}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "note_start");
    MUST(cuMemAlloc(&all, 32 * sizeof(int)));
    note_start(kernel, all);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
