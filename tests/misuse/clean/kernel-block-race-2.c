/* SPDX-License-Identifier: MIT */
/*
 * The list is moved to other memory.
 *
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry move(.param .u64 all)\n{\n"
    ".reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [all];\n"
    "mov.u32 %r1, %tid.x;\n"
    "mov.u32 %r2, %ctaid.x;\n"
    "mov.u32 %r3, %ntid.x;\n"
    "mad.lo.u32 %r1, %r2, %r3, %r1;\n"
    "mul.wide.u32 %rd2, %r1, 4;\n"
    "add.s64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r2, [%rd1+256];\n"
    "st.global.u32 [%rd1+1280], %r2;\n"
    "ret;\n"
    "}\n";

NAMED void move(CUfunction kernel, CUdeviceptr all)
{
    MUST(cuLaunchKernel(kernel, 4, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&all}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "move");
    MUST(cuMemAlloc(&all, 1024 * sizeof(int)));
    unsigned list[64 * 5];
    for (int i = 0; i < 64 * 5; i++)
        list[i] = (unsigned)i;
    MUST(cuMemcpyHtoD(all, list, sizeof list));
    move(kernel, all);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
