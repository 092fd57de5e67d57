/* SPDX-License-Identifier: MIT */
/*
 * A kernel waits for a flag that a fill of another stream sets, behind the fill of the numbers that
 * the kernel then reads: no event orders the two streams, but the flag does.
 *
 * driver: threads lazy
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.3\n.target sm_50\n.address_size 64\n"
    /* while (to[0] == 0); to[2] = to[1] */
    ".visible .entry take(.param .u64 to)\n{\n"
    "    .reg .b32 %r<3>;\n    .reg .b64 %rd1;\n    .reg .pred %p;\n"
    "    ld.param.u64 %rd1, [to];\n"
    "again:\n    ld.volatile.global.u32 %r1, [%rd1];\n    setp.eq.u32 %p, %r1, 0;\n"
    "    @%p bra again;\n    membar.gl;\n"
    "    ld.global.u32 %r2, [%rd1+4];\n    st.global.u32 [%rd1+8], %r2;\n    ret;\n}\n";

int main(void)
{
    CUdeviceptr to;
    CUmodule module;
    CUstream waits, fills;
    use_gpu(0);
    CUfunction take = load(&module, ptx, "take");
    MUST(cuMemAlloc(&to, 3 * sizeof(int)));
    MUST(cuMemsetD32(to, 0, 3));
    MUST(cuCtxSynchronize());
    MUST(cuStreamCreate(&waits, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&fills, CU_STREAM_NON_BLOCKING));
    MUST(cuLaunchKernel(take, 1, 1, 1, 1, 1, 1, 0, waits, (void *[]){&to}, NULL));
    MUST(cuMemsetD32Async(to + sizeof(int), 7, 1, fills));
    MUST(cuMemsetD32Async(to, 1, 1, fills));
    MUST(cuStreamSynchronize(fills));
    MUST(cuStreamSynchronize(waits));
    MUST(cuStreamDestroy(fills));
    MUST(cuStreamDestroy(waits));
    MUST(cuMemFree(to));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
