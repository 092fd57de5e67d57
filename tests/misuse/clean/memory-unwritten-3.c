/* SPDX-License-Identifier: MIT */
/*
 * A kernel is launched for each number of a list, and then the whole list is copied to pinned
 * memory by a copy that its call does not wait for.
 *
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

NAMED void launch(CUfunction kernel, CUdeviceptr all, CUstream stream)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream, (void *[]){&all}, NULL));
}

NAMED void bring(void *list, CUdeviceptr all, CUstream stream)
{
    MUST(cuMemcpyDtoHAsync(list, all, 64 * sizeof(unsigned), stream));
}

int main(void)
{
    CUdeviceptr all;
    CUmodule module;
    CUstream stream;
    void *list;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "number");
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAllocHost(&list, 64 * sizeof(unsigned)));
    MUST(cuMemAlloc(&all, 64 * sizeof(unsigned)));
    launch(kernel, all, stream);
    bring(list, all, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFree(all));
    MUST(cuMemFreeHost(list));
    MUST(cuStreamDestroy(stream));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
