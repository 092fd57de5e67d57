/* SPDX-License-Identifier: MIT */
/*
 * A graph fills a buffer that another stream clears. The program records an event behind the
 * clearing, and nothing in the graph waits for it.
 *
 * expect: ORDER-KERNEL
 * at: launch
 * origin: first clear
 * origin: second record
 * origin: launched launch
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 64 };

static const char ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry fill(.param .u64 to)\n{\n"
    "    .reg .b32 %r1;\n    .reg .b64 %rd<3>;\n"
    "    ld.param.u64 %rd1, [to];\n    mov.u32 %r1, %tid.x;\n    cvt.u64.u32 %rd2, %r1;\n"
    "    add.u64 %rd1, %rd1, %rd2;\n    st.global.u8 [%rd1], 1;\n    ret;\n}\n";

static CUmodule module;

NAMED CUgraphExec record(CUdeviceptr buffer, CUstream stream, CUevent ready)
{
    CUfunction fill = load(&module, ptx, "fill");
    void *parameters[] = {&buffer};
    CUgraph graph;
    CUgraphExec exec;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    (void)ready;
    MUST(cuLaunchKernel(fill, 1, 1, 1, BYTES, 1, 1, 0, stream, parameters, NULL));
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    return exec;
}

NAMED void clear(CUdeviceptr buffer, CUstream stream)
{
    MUST(cuMemsetD8Async(buffer, 0, BYTES, stream));
}

NAMED void launch(CUgraphExec exec, CUstream stream)
{
    MUST(cuGraphLaunch(exec, stream));
}

int main(void)
{
    CUdeviceptr buffer;
    CUstream streams[2];
    CUevent ready;
    use_gpu(0);
    MUST(cuMemAlloc(&buffer, BYTES));
    MUST(cuEventCreate(&ready, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 2; i++)
        MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    CUgraphExec exec = record(buffer, streams[1], ready);
    clear(buffer, streams[0]);
    MUST(cuEventRecord(ready, streams[0]));
    launch(exec, streams[1]);
    MUST(cuCtxSynchronize());
    MUST(cuGraphExecDestroy(exec));
    MUST(cuModuleUnload(module));
    MUST(cuEventDestroy(ready));
    for (int i = 0; i < 2; i++)
        MUST(cuStreamDestroy(streams[i]));
    MUST(cuMemFree(buffer));
    leave_gpu(0);
    return 0;
}
