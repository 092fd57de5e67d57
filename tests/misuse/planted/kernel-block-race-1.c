/* SPDX-License-Identifier: MIT */
/*
 * Each block adds its number to a sum in device memory: it reads the sum, adds, and writes it
 * back.
 *
 * expect: KERNEL-BLOCK-RACE
 * at: launch
 * origin: launched launch
 * origin: made main
 * says: block (1, 0, 0)
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry add_up(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [all];\n"
    "mov.u32 %r1, %ctaid.x;\n"
    "ld.global.u32 %r2, [%rd1];\n"
    "add.u32 %r2, %r2, %r1;\n"
    "st.global.u32 [%rd1], %r2;\n"
    "ret;\n"
    "}\n";

NAMED void launch(CUfunction kernel, CUdeviceptr all)
{
    MUST(cuLaunchKernel(kernel, 8, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&all}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "add_up");
    MUST(cuMemAlloc(&all, 8 * sizeof(int)));
    MUST(cuMemsetD32(all, 0, 1));
    launch(kernel, all);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
