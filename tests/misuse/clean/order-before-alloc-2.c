/* SPDX-License-Identifier: MIT */
/*
 * The event is recorded behind the allocation, and the memory is freed in the stream that uses it.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.3\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry mark(.param .u64 to)\n"
    "{\n"
    "    .reg .b32 %r1;\n"
    "    .reg .b64 %rd1;\n"
    "    ld.param.u64 %rd1, [to];\n"
    "    mov.u32 %r1, 7;\n"
    "    st.global.u32 [%rd1], %r1;\n"
    "    ret;\n"
    "}\n";

NAMED CUdeviceptr prepare(CUmemoryPool pool, CUstream stream, CUevent ready)
{
    CUdeviceptr memory;
    MUST(cuMemAllocFromPoolAsync(&memory, sizeof(int), pool, stream));
    MUST(cuEventRecord(ready, stream));
    return memory;
}

NAMED void work(CUfunction mark, CUdeviceptr memory, CUstream stream, CUevent ready)
{
    MUST(cuStreamWaitEvent(stream, ready, 0));
    MUST(cuLaunchKernel(mark, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&memory}, NULL));
    MUST(cuMemFreeAsync(memory, stream));
}

int main(void)
{
    CUmemoryPool pool;
    CUmodule module;
    CUstream one, other;
    CUevent ready;
    use_gpu(0);
    CUfunction mark = load(&module, ptx, "mark");
    MUST(cuDeviceGetDefaultMemPool(&pool, 0));
    MUST(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&ready, CU_EVENT_DISABLE_TIMING));
    CUdeviceptr memory = prepare(pool, one, ready);
    work(mark, memory, other, ready);
    MUST(cuCtxSynchronize());
    MUST(cuEventDestroy(ready));
    MUST(cuStreamDestroy(one));
    MUST(cuStreamDestroy(other));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
