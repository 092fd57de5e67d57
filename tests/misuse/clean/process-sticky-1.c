/* SPDX-License-Identifier: MIT */
/* The kernel gets an address that the program has allocated. */
#include "gpu.h"

static const char ptx[] = ".version 6.3\n.target sm_50\n.address_size 64\n"
                          ".visible .entry store(.param .u64 to)\n{\n"
                          "    .reg .b32 %r1;\n    .reg .b64 %rd1;\n"
                          "    ld.param.u64 %rd1, [to];\n    mov.u32 %r1, 1;\n"
                          "    st.global.u32 [%rd1], %r1;\n    ret;\n}\n"; /* *to = 1 */

NAMED void start(CUfunction store, CUdeviceptr to)
{
    MUST(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&to}, NULL));
}

NAMED void wait_for_result(void)
{
    if (cuCtxSynchronize() != CUDA_SUCCESS)
        fputs("the kernel failed\n", stderr);
}

int main(void)
{
    CUdeviceptr data;
    CUmodule module;
    use_gpu(0);
    CUfunction store = load(&module, ptx, "store");
    MUST(cuMemAlloc(&data, 4096));
    start(store, data);
    wait_for_result();
    if (cuMemFree(data) != CUDA_SUCCESS)
        fputs("the memory was not freed\n", stderr);
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
