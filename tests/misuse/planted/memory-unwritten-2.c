/* SPDX-License-Identifier: MIT */
/*
 * A list of results is copied to the host, with one place more than the kernel has written.
 *
 * expect: MEMORY-UNWRITTEN
 * at: bring
 * origin: made main
 * says: 4 bytes, the first one is byte 252
 * options: --notes
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry number(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "st.global.u32 [%rd1], %r1;\n"
    "ret;\n"
    "}\n";

NAMED void launch(CUfunction kernel, CUdeviceptr all)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 63, 1, 1, 0, NULL, (void *[]){&all}, NULL));
}

NAMED void bring(unsigned *list, CUdeviceptr all)
{
    MUST(cuMemcpyDtoH(list, all, 64 * sizeof *list));
}

int main(void)
{
    CUdeviceptr all;
    unsigned list[64];
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "number");
    MUST(cuMemAlloc(&all, 64 * sizeof(int)));
    launch(kernel, all);
    bring(list, all);
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
