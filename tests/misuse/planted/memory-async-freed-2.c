/* SPDX-License-Identifier: MIT */
/*
 * A kernel counts in stream-ordered memory, and cuMemFree takes the memory away: the program has
 * waited for the stream that allocated, not for the one that the kernel is in.
 *
 * expect: MEMORY-ASYNC-FREED
 * at: drop
 * origin: made main
 * origin: first count
 * says: cuLaunchKernel in stream 2
 * origin: second drop
 * says: cuMemFree_v2 in the legacy stream
 * says: of 4 bytes of stream-ordered memory
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.3\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry count(.param .u64 counter)\n"
    "{\n"
    "    .reg .b32 %r<3>;\n"
    "    .reg .b64 %rd1;\n"
    "    ld.param.u64 %rd1, [counter];\n"
    "    ld.global.u32 %r1, [%rd1];\n"
    "    add.u32 %r2, %r1, 1;\n"
    "    st.global.u32 [%rd1], %r2;\n"
    "    ret;\n"
    "}\n";

NAMED void count(CUfunction kernel, CUdeviceptr counter, CUstream stream)
{
    void *parameters[] = {&counter};
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

NAMED void drop(CUdeviceptr counter)
{
    MUST(cuMemFree(counter));
}

int main(void)
{
    CUdeviceptr counter;
    CUmodule module;
    CUstream one, other;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "count");
    MUST(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAllocAsync(&counter, sizeof(int), one));
    MUST(cuMemsetD32Async(counter, 0, 1, one));
    MUST(cuStreamSynchronize(one));
    count(kernel, counter, other);
    MUST(cuStreamSynchronize(one));
    drop(counter);
    (void)cuStreamSynchronize(other);
    return 0;
}
