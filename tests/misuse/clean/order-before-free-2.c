/* SPDX-License-Identifier: MIT */
/*
 * The stream waits for the kernel of the other stream first, and frees the memory behind that.
 *
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
    MUST(cuStreamWaitEvent(stream, added, 0));
    MUST(cuMemFreeAsync(counter, stream));
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
    MUST(cuCtxSynchronize());
    MUST(cuEventDestroy(added));
    MUST(cuStreamDestroy(one));
    MUST(cuStreamDestroy(other));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
