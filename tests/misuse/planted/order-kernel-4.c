/* SPDX-License-Identifier: MIT */
/*
 * A program launches two executable graphs of the same work, each in a stream of its own, and
 * nothing orders them.
 *
 * expect: ORDER-KERNEL
 * at: launch
 * origin: first record
 * origin: launched launch
 * origin: second record
 * says: node 0 of executable graph 1 (kernel count)
 * says: node 0 of executable graph 2 (kernel count)
 * says: cuGraphLaunch in stream 1
 * says: cuGraphLaunch in stream 2
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 64 };

static const char ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry count(.param .u64 to)\n{\n"
    "    .reg .b32 %r<3>;\n    .reg .b64 %rd1;\n"
    "    ld.param.u64 %rd1, [to];\n    ld.global.u32 %r1, [%rd1];\n"
    "    add.u32 %r2, %r1, 1;\n    st.global.u32 [%rd1], %r2;\n    ret;\n}\n";

NAMED CUgraphExec record(CUfunction count, CUdeviceptr counter, CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    void *parameters[] = {&counter};
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    return exec;
}

NAMED void launch(CUgraphExec exec, CUstream stream)
{
    MUST(cuGraphLaunch(exec, stream));
}

int main(void)
{
    CUdeviceptr counter;
    CUmodule module;
    CUstream streams[2];
    CUgraphExec exec[2];
    use_gpu(0);
    CUfunction count = load(&module, ptx, "count");
    MUST(cuMemAlloc(&counter, BYTES));
    MUST(cuMemsetD8(counter, 0, BYTES));
    MUST(cuCtxSynchronize());
    for (int i = 0; i < 2; i++)
        MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++)
        exec[i] = record(count, counter, streams[i]);
    for (int i = 0; i < 2; i++)
        launch(exec[i], streams[i]);
    MUST(cuCtxSynchronize());
    for (int i = 0; i < 2; i++)
        MUST(cuGraphExecDestroy(exec[i]));
    for (int i = 0; i < 2; i++)
        MUST(cuStreamDestroy(streams[i]));
    MUST(cuMemFree(counter));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
