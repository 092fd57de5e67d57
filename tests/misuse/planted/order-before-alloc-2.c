/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes to memory of a pool. Its stream waits for an event of the stream that allocates,
 * but that event was recorded before the allocation.
 *
 * expect: ORDER-BEFORE-ALLOC
 * at: work
 * origin: first prepare
 * origin: second work
 * says: cuMemAllocFromPoolAsync in stream 1
 * says: cuLaunchKernel in stream 2
 * origin: made prepare
 * says: of 4 bytes of stream-ordered memory
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
    MUST(cuEventRecord(ready, stream));
    MUST(cuMemAllocFromPoolAsync(&memory, sizeof(int), pool, stream));
    return memory;
}

NAMED void work(CUfunction mark, CUdeviceptr memory, CUstream stream, CUevent ready)
{
    MUST(cuStreamWaitEvent(stream, ready, 0));
    (void)cuLaunchKernel(mark, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&memory}, NULL);
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
    (void)cuCtxSynchronize();
    return 0;
}
