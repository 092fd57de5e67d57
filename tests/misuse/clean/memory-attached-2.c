/* SPDX-License-Identifier: MIT */
/*
 * The program attaches the memory to all streams again, and only then launches. It attaches it to
 * one stream behind a kernel of another one, too.
 *
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry add(.param .u64 all)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1;\n"
    "st.global.u32 [%rd1], %r2;\n"
    "ret;\n}\n";

NAMED void launch(CUfunction kernel, CUdeviceptr all, CUstream stream)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&all}, NULL));
    MUST(cuStreamSynchronize(stream));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    CUstream first, second;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "add");
    MUST(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAllocManaged(&all, 32 * sizeof(int), CU_MEM_ATTACH_GLOBAL));
    MUST(cuStreamAttachMemAsync(first, all, 0, CU_MEM_ATTACH_HOST));
    MUST(cuStreamSynchronize(first));
    MUST(cuStreamAttachMemAsync(first, all, 0, CU_MEM_ATTACH_GLOBAL));
    MUST(cuStreamSynchronize(first));
    launch(kernel, all, first);
    launch(kernel, all, second);
    MUST(cuStreamAttachMemAsync(first, all, 0, CU_MEM_ATTACH_SINGLE));
    MUST(cuStreamSynchronize(first));
    MUST(cuMemFree(all));
    MUST(cuStreamDestroy(first));
    MUST(cuStreamDestroy(second));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
