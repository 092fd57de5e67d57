/* SPDX-License-Identifier: MIT */
/* The cache drops its oldest entry when the request with its address is over. */
#include "gpu.h"

static const char ptx[] =
    ".version 6.3\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry first(.param .u64 from, .param .u64 to)\n"
    "{\n"
    "    .reg .b32 %r1;\n"
    "    .reg .b64 %rd<3>;\n"
    "    ld.param.u64 %rd1, [from];\n"
    "    ld.param.u64 %rd2, [to];\n"
    "    ld.global.u32 %r1, [%rd1];\n"
    "    st.global.u32 [%rd2], %r1;\n"
    "    ret;\n"
    "}\n";

NAMED CUdeviceptr insert(int value)
{
    CUdeviceptr entry;
    MUST(cuMemAlloc(&entry, sizeof value));
    MUST(cuMemcpyHtoD(entry, &value, sizeof value));
    return entry;
}

NAMED void evict(CUdeviceptr entry)
{
    MUST(cuMemFree(entry));
}

NAMED void look_up(CUfunction first, CUdeviceptr entry, CUdeviceptr answer)
{
    void *parameters[] = {&entry, &answer};
    MUST(cuLaunchKernel(first, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
}

int main(void)
{
    CUmodule module;
    use_gpu(0);
    CUfunction first = load(&module, ptx, "first");
    CUdeviceptr entry = insert(1), answer = insert(0);
    look_up(first, entry, answer);
    MUST(cuCtxSynchronize());
    evict(entry);
    MUST(cuMemFree(answer));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
