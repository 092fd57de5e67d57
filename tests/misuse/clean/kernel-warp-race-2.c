/* SPDX-License-Identifier: MIT */
/*
 * The lanes get the time of the first one by a shuffle, without shared memory.
 *
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry note_start(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    ".reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "mov.u32 %r2, %clock;\n"
    "shfl.sync.idx.b32 %r6, %r2, 0, 31, 0xffffffff;\n"
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
