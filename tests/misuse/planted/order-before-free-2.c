/* SPDX-License-Identifier: MIT */
/*
 * A kernel adds to memory in a second stream. The first stream, which allocated it, frees it, and
 * waits for the second stream afterwards: one line too late.
 *
 * expect: ORDER-BEFORE-FREE
 * at: finish
 * origin: first add
 * origin: second finish
 * says: cuLaunchKernel in stream 2
 * says: cuMemFreeAsync in stream 1
 * origin: made main
 * says: of 4 bytes of stream-ordered memory
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.3\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry add(.param .u64 counter)\n"
    "{\n"
    "    .reg .b32 %r1;\n"
    "    .reg .b64 %rd1;\n"
    "    ld.param.u64 %rd1, [counter];\n"
    "    atom.global.add.u32 %r1, [%rd1], 1;\n"
    "    ret;\n"
    "}\n";

NAMED void add(CUfunction kernel, CUdeviceptr counter, CUstream stream, CUevent added)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 8, 1, 1, 0, stream, (void *[]){&counter}, NULL));
    MUST(cuEventRecord(added, stream));
}

NAMED void finish(CUdeviceptr counter, CUstream stream, CUevent added)
{
    MUST(cuMemFreeAsync(counter, stream));
    (void)cuStreamWaitEvent(stream, added, 0);
}

int main(void)
{
    CUdeviceptr counter;
    CUmodule module;
    CUstream one, other;
    CUevent added;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "add");
    MUST(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&added, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemAllocAsync(&counter, sizeof(int), one));
    MUST(cuMemsetD32Async(counter, 0, 1, one));
    MUST(cuStreamSynchronize(one));
    add(kernel, counter, other, added);
    finish(counter, one, added);
    (void)cuCtxSynchronize();
    return 0;
}
