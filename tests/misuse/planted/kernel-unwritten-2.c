/* SPDX-License-Identifier: MIT */
/*
 * A kernel counts its threads in a word of device memory that nobody has set to 0.
 *
 * expect: KERNEL-UNWRITTEN
 * at: count
 * origin: launched count
 * origin: made main
 * says: a read of 4 bytes
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry count_up(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [all];\n"
    "atom.global.add.u32 %r1, [%rd1], 1;\n"
    "ret;\n"
    "}\n";

NAMED void count(CUfunction kernel, CUdeviceptr all)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&all}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "count_up");
    MUST(cuMemAlloc(&all, 64 * sizeof(int)));
    count(kernel, all);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
