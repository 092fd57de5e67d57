/* SPDX-License-Identifier: MIT */
/*
 * A list is freed and a new one is made, which may get the same address. The kernel still gets the
 * old pointer: on a GPU it often works by luck.
 *
 * expect: MEMORY-ENDED
 * at: launch
 * origin: made main
 * origin: ended main
 * says: which was freed
 * driver: threads lazy random:1
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry mark(.param .u64 all)\n{\n"
    ".reg .b32 %r<2>;\n.reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [all];\n"
    "mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4;\n"
    "add.s64 %rd1, %rd1, %rd2;\n"
    "st.global.u32 [%rd1], %r1;\n"
    "ret;\n"
    "}\n";

NAMED void launch(CUfunction kernel, CUdeviceptr all)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&all}, NULL));
}

int main(void)
{
    CUdeviceptr old, all;
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "mark");
    MUST(cuMemAlloc(&old, 64 * sizeof(int)));
    MUST(cuMemFree(old));
    MUST(cuMemAlloc(&all, 64 * sizeof(int)));
    launch(kernel, old);
    return cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS ? 0 : 3;
}
