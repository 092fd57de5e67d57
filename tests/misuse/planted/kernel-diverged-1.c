/* SPDX-License-Identifier: MIT */
/*
 * Only 40 of 64 threads come to a barrier: it stands in the branch of those that have work.
 *
 * expect: KERNEL-DIVERGED
 * at: launch
 * origin: launched launch
 * says: waits at the barrier
 * says: thread (40, 0, 0): is here without the barrier
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry work(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    ".reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "setp.lt.u32 %p1, %r1, 40;\n"
    "@!%p1 bra REST;\n"
    "bar.sync 0;\n"
    "REST:\n"
    "st.global.u32 [%rd1], %r1;\n"
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
    CUfunction kernel = load(&module, ptx, "work");
    MUST(cuMemAlloc(&all, 64 * sizeof(int)));
    launch(kernel, all);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
