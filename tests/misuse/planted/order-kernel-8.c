/* SPDX-License-Identifier: MIT */
/*
 * A program has a graph that records an event. Its streams use other events, and one of them is
 * recorded too early: the stream that waits for it is ordered before the kernel, not behind it.
 *
 * expect: ORDER-KERNEL
 * at: take
 * origin: first write
 * origin: second take
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    /* *to = value */
    ".visible .entry set(.param .u64 to, .param .u32 value)\n{\n"
    "    .reg .b32 %r1;\n    .reg .b64 %rd1;\n"
    "    ld.param.u64 %rd1, [to];\n    ld.param.u32 %r1, [value];\n"
    "    st.global.u32 [%rd1], %r1;\n    ret;\n}\n";

NAMED void write(CUfunction set, CUdeviceptr to, CUstream stream)
{
    unsigned int value = 3;
    MUST(cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&to, &value}, NULL));
}

NAMED void take(void *to, CUdeviceptr from, CUstream stream)
{
    MUST(cuMemcpyDtoHAsync(to, from, sizeof(int), stream));
}

/* A graph that only records an event. */
NAMED void mark_time(CUevent event, CUstream stream)
{
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
}

int main(void)
{
    CUdeviceptr memory;
    CUmodule module;
    CUstream one, other;
    CUevent begun, written;
    void *taken;
    use_gpu(0);
    CUfunction set = load(&module, ptx, "set");
    MUST(cuMemAlloc(&memory, sizeof(int)));
    MUST(cuMemAllocHost(&taken, sizeof(int)));
    MUST(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&begun, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&written, CU_EVENT_DISABLE_TIMING));
    mark_time(begun, one);
    MUST(cuEventRecord(written, one));
    write(set, memory, one);
    MUST(cuStreamWaitEvent(other, written, 0));
    take(taken, memory, other);
    MUST(cuCtxSynchronize());
    MUST(cuEventDestroy(written));
    MUST(cuEventDestroy(begun));
    MUST(cuStreamDestroy(other));
    MUST(cuStreamDestroy(one));
    MUST(cuMemFreeHost(taken));
    MUST(cuMemFree(memory));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
