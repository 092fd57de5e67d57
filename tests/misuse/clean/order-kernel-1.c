/* SPDX-License-Identifier: MIT */
/*
 * The stream of the second kernel waits for an event that is recorded behind the first one.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

#define KERNEL(name, step)                                      \
    ".visible .entry " name "(.param .u64 all)\n{\n"            \
    "    .reg .b32 %r<3>;\n    .reg .b64 %rd<3>;\n"             \
    "    ld.param.u64 %rd1, [all];\n    mov.u32 %r1, %tid.x;\n" \
    "    mad.wide.u32 %rd2, %r1, 4, %rd1;\n" step "    st.global.u32 [%rd2], %r2;\n    ret;\n}\n"

static const char ptx[] =
    ".version 6.3\n.target sm_50\n.address_size 64\n"
    KERNEL("make", "    add.u32 %r2, %r1, 1;\n") /* all[i] = i + 1 */
    KERNEL("twice", "    ld.global.u32 %r2, [%rd2];\n    shl.b32 %r2, %r2, 1;\n"); /* all[i] *= 2 */

NAMED void make_numbers(CUfunction make, CUdeviceptr all, CUstream stream)
{
    MUST(cuLaunchKernel(make, 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&all}, NULL));
}

NAMED void double_numbers(CUfunction twice, CUdeviceptr all, CUstream stream)
{
    MUST(cuLaunchKernel(twice, 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&all}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUfunction twice;
    CUmodule module;
    CUstream one, other;
    CUevent made;
    use_gpu(0);
    CUfunction make = load(&module, ptx, "make");
    MUST(cuModuleGetFunction(&twice, module, "twice"));
    MUST(cuMemAlloc(&all, 32 * sizeof(int)));
    MUST(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING));
    make_numbers(make, all, one);
    MUST(cuEventRecord(made, one));
    MUST(cuStreamWaitEvent(other, made, 0));
    double_numbers(twice, all, other);
    MUST(cuEventDestroy(made));
    MUST(cuStreamDestroy(other));
    MUST(cuStreamDestroy(one));
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
