/* SPDX-License-Identifier: MIT */
/*
 * Each thread reads the left neighbour of its element in shared memory. The first one has none, and
 * reads what lies in front of the array.
 *
 * expect: KERNEL-BEYOND
 * at: launch
 * says: a read of 4 bytes at offset
 * says: 4 bytes in front of the 128 bytes of line
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry shift(.param .u64 all, .param .u32 last)\n{\n"
    ".reg .b32 %r<10>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
    ".shared .align 8 .b8 before[8]; .shared .align 4 .b8 line[128];\n"
    "ld.param.u64 %rd1, [all]; ld.param.u32 %r9, [last]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "mov.u64 %rd3, line; cvta.shared.u64 %rd3, %rd3; add.s64 %rd3, %rd3, %rd2;\n"
    "st.u32 [%rd3], %r1; st.shared.u32 [before], %r9; st.shared.u32 [before+4], %r9;\n"
    "bar.sync 0;\n"
    "mov.u32 %r7, 0;\n"
    "ld.u32 %r7, [%rd3+-4];\n"
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
    CUfunction kernel = load(&module, ptx, "shift");
    MUST(cuMemAlloc(&all, 32 * sizeof(int)));
    launch(kernel, all, 0);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
