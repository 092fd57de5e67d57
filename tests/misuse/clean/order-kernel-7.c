/* SPDX-License-Identifier: MIT */
/*
 * The other stream uses only what the node before the record writes.
 *
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

NAMED CUgraph build(CUdeviceptr first, CUdeviceptr second, CUevent event, CUcontext context)
{
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = first, .value = 1, .elementSize = 4, .width = 1, .height = 1};
    CUgraph graph;
    CUgraphNode nodes[3];
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &fill, context));
    MUST(cuGraphAddEventRecordNode(&nodes[1], graph, &nodes[0], 1, event));
    fill.dst = second;
    MUST(cuGraphAddMemsetNode(&nodes[2], graph, &nodes[1], 1, &fill, context));
    return graph;
}

NAMED void use(CUfunction set, CUdeviceptr at, CUstream stream)
{
    unsigned int value = 9;
    MUST(cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&at, &value}, NULL));
}

int main(void)
{
    CUdeviceptr first, second;
    CUmodule module;
    CUstream stream, other;
    CUevent middle;
    CUgraphExec exec;
    const CUcontext context = use_gpu(0);
    CUfunction set = load(&module, ptx, "set");
    MUST(cuMemAlloc(&first, sizeof(int)));
    MUST(cuMemAlloc(&second, sizeof(int)));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&middle, CU_EVENT_DISABLE_TIMING));
    CUgraph graph = build(first, second, middle, context);
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamWaitEvent(other, middle, 0));
    use(set, first, other);
    MUST(cuCtxSynchronize());
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
    MUST(cuEventDestroy(middle));
    MUST(cuStreamDestroy(other));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(second));
    MUST(cuMemFree(first));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
