/* SPDX-License-Identifier: MIT */
/*
 * Threads copy numbers into shared memory by cp.async, and each reads the number of a thread of the
 * other warp. A barrier is between the two.
 *
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry turn(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    ".shared .align 16 .b32 part[64];\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "mov.u32 %r2, part; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;\n"
    "xor.b32 %r3, %r3, 252; add.u32 %r5, %r2, %r3;\n"
    "cp.async.ca.shared.global [%r4], [%rd1], 4;\n"
    "cp.async.wait_all;\n"
    "bar.sync 0;\n"
    "ld.shared.u32 %r6, [%r5];\n"
    "st.global.u32 [%rd1], %r6;\n"
    "ret;\n"
    "}\n";

NAMED void turn(CUfunction kernel, CUdeviceptr all)
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
    MUST(cuMemsetD32(all, 7, 64));
    turn(kernel, all);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
