/* SPDX-License-Identifier: MIT */
/*
 * A cache drops its oldest entry while a request still has the address, and the kernel of the
 * request reads freed memory: an illegal address, after which the context is useless.
 *
 * expect: MEMORY-ENDED
 * at: look_up
 * origin: made insert
 * origin: ended evict
 * says: 4 bytes of device memory belongs to the primary context of GPU 0
 * says: 4 bytes of device memory was ended by cuMemFree_v2
 * driver: threads lazy random:1 random:2 random:3
 */
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
    evict(entry);
    look_up(first, entry, answer);
    (void)cuCtxSynchronize();
    return 0;
}
