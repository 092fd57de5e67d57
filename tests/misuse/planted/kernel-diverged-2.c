/* SPDX-License-Identifier: MIT */
/*
 * The even and the odd lanes of a warp each have a barrier of their own in their branch. The lanes
 * of a warp have to come to one barrier together.
 *
 * expect: KERNEL-DIVERGED
 * at: choose
 * origin: launched choose
 * says: waits at the barrier
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry choose(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    ".reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "and.b32 %r2, %r1, 1;\n"
    "setp.eq.u32 %p1, %r2, 0;\n"
    "@!%p1 bra ODD;\n"
    "mov.u32 %r3, 1;\n"
    "bar.sync 0;\n"
    "bra REST;\n"
    "ODD:\n"
    "mov.u32 %r3, 2;\n"
    "bar.sync 0;\n"
    "REST:\n"
    "st.global.u32 [%rd1], %r3;\n"
    "ret;\n"
    "}\n";

NAMED void choose(CUfunction kernel, CUdeviceptr all)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&all}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "choose");
    MUST(cuMemAlloc(&all, 32 * sizeof(int)));
    choose(kernel, all);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
