/* SPDX-License-Identifier: MIT */
/*
 * Two warps write a matrix into shared memory, and each loads all of it with ldmatrix, behind a
 * barrier.
 *
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry rows(.param .u64 all)\n{\n"
    ".reg .b32 %r<12>; .reg .b64 %rd<4>;\n"
    ".shared .align 16 .b32 part[64];\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "mov.u32 %r2, part; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;\n"
    "and.b32 %r5, %r1, 15; shl.b32 %r5, %r5, 4; add.u32 %r5, %r2, %r5;\n"
    "add.u32 %r6, %r1, 1; st.shared.u32 [%r4], %r6;\n"
    "bar.sync 0;\n"
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r7, %r8}, [%r5];\n"
    "add.u32 %r7, %r7, %r8; st.global.u32 [%rd1], %r7;\n"
    "ret;\n"
    "}\n";

NAMED void add_rows(CUfunction kernel, CUdeviceptr all)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&all}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "rows");
    MUST(cuMemAlloc(&all, 64 * sizeof(int)));
    add_rows(kernel, all);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
