/* SPDX-License-Identifier: MIT */
/*
 * Kernels of two streams take memory from the device's heap, use it and give it back. They often
 * get the same bytes, one after the other.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.3\n.target sm_50\n.address_size 64\n"
    ".extern .func (.param .b64 block) malloc(.param .b64 bytes);\n"
    ".extern .func free(.param .b64 block);\n"
    /* writes 16 bytes of the heap */
    ".visible .entry work()\n{\n"
    "    .reg .b32 %r1;\n    .reg .b64 %rd<3>;\n    .param .b64 given;\n    .param .b64 taken;\n"
    "    mov.u64 %rd1, 16;\n    st.param.b64 [given], %rd1;\n"
    "    call.uni (taken), malloc, (given);\n    ld.param.b64 %rd2, [taken];\n"
    "    mov.u32 %r1, %clock;\n    st.u32 [%rd2], %r1;\n"
    "    st.param.b64 [given], %rd2;\n    call.uni free, (given);\n    ret;\n}\n";

enum { TIMES = 4 };

int main(void)
{
    CUmodule module;
    CUstream streams[2];
    use_gpu(0);
    CUfunction work = load(&module, ptx, "work");
    for (int i = 0; i < 2; i++)
        MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2 * TIMES; i++)
        MUST(cuLaunchKernel(work, 1, 1, 1, 1, 1, 1, 0, streams[i % 2], NULL, NULL));
    MUST(cuCtxSynchronize());
    for (int i = 0; i < 2; i++)
        MUST(cuStreamDestroy(streams[i]));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
