/* SPDX-License-Identifier: MIT */
/*
 * Each stream has a flag of its own. The threads of one kernel may all store one value.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    /* *to = value */
    ".visible .entry set(.param .u64 to, .param .u32 value)\n{\n"
    "    .reg .b32 %r1;\n    .reg .b64 %rd1;\n"
    "    ld.param.u64 %rd1, [to];\n    ld.param.u32 %r1, [value];\n"
    "    st.global.u32 [%rd1], %r1;\n    ret;\n}\n";

NAMED void raise_flag(CUfunction set, CUdeviceptr flag, CUstream stream)
{
    unsigned int value = 1;
    MUST(cuLaunchKernel(set, 2, 1, 1, 32, 1, 1, 0, stream, (void *[]){&flag, &value}, NULL));
}

int main(void)
{
    CUdeviceptr flags;
    CUmodule module;
    CUstream streams[2];
    use_gpu(0);
    CUfunction set = load(&module, ptx, "set");
    MUST(cuMemAlloc(&flags, 2 * sizeof(int)));
    for (int i = 0; i < 2; i++)
        MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++)
        raise_flag(set, flags + (CUdeviceptr)i * sizeof(int), streams[i]);
    MUST(cuCtxSynchronize());
    for (int i = 0; i < 2; i++)
        MUST(cuStreamDestroy(streams[i]));
    MUST(cuMemFree(flags));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
