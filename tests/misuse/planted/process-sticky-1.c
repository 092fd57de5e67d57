/* SPDX-License-Identifier: MIT */
/*
 * A kernel stores through a null pointer. The next call that waits reports it, and from then on
 * every call of the context fails with the same error; those that follow say nothing new.
 *
 * expect: PROCESS-STICKY
 * at: wait_for_result
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.3\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry store(.param .u64 to)\n"
    "{\n"
    "    .reg .b32 %r1;\n"
    "    .reg .b64 %rd1;\n"
    "    ld.param.u64 %rd1, [to];\n"
    "    mov.u32 %r1, 1;\n"
    "    st.global.u32 [%rd1], %r1;\n"
    "    ret;\n"
    "}\n";

NAMED void start(CUfunction store)
{
    CUdeviceptr nowhere = 0;
    MUST(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&nowhere}, NULL));
}

NAMED void wait_for_result(void)
{
    (void)cuCtxSynchronize();
}

NAMED void clean_up(CUdeviceptr data, CUmodule module)
{
    (void)cuMemFree(data);
    (void)cuModuleUnload(module);
}

int main(void)
{
    CUdeviceptr data;
    CUmodule module;
    use_gpu(0);
    CUfunction store = load(&module, ptx, "store");
    MUST(cuMemAlloc(&data, 4096));
    start(store);
    wait_for_result();
    clean_up(data, module);
    return 0;
}
