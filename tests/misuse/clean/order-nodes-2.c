/* SPDX-License-Identifier: MIT */
/*
 * The second branch forks behind the kernel whose numbers it needs.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.3\n.target sm_50\n.address_size 64\n"
    /* all[i] = i */
    ".visible .entry number(.param .u64 all)\n{\n"
    "    .reg .b32 %r1;\n    .reg .b64 %rd<3>;\n"
    "    ld.param.u64 %rd1, [all];\n    mov.u32 %r1, %tid.x;\n"
    "    mad.wide.u32 %rd2, %r1, 4, %rd1;\n    st.global.u32 [%rd2], %r1;\n    ret;\n}\n"
    /* all[32] += all[i] */
    ".visible .entry add_up(.param .u64 all)\n{\n"
    "    .reg .b32 %r<3>;\n    .reg .b64 %rd<3>;\n"
    "    ld.param.u64 %rd1, [all];\n    mov.u32 %r1, %tid.x;\n"
    "    mad.wide.u32 %rd2, %r1, 4, %rd1;\n    ld.global.u32 %r2, [%rd2];\n"
    "    red.global.add.u32 [%rd1+128], %r2;\n    ret;\n}\n";

NAMED void write(CUfunction number, CUdeviceptr all, CUstream stream)
{
    MUST(cuLaunchKernel(number, 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&all}, NULL));
}

NAMED void sum(CUfunction add_up, CUdeviceptr all, CUstream stream)
{
    MUST(cuLaunchKernel(add_up, 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&all}, NULL));
}

int main(void)
{
    CUdeviceptr all;
    CUfunction sums;
    CUmodule module;
    CUstream one, other;
    CUevent event;
    CUgraph graph;
    CUgraphExec exec;
    use_gpu(0);
    CUfunction numbers = load(&module, ptx, "number");
    MUST(cuModuleGetFunction(&sums, module, "add_up"));
    MUST(cuMemAlloc(&all, 33 * sizeof(int)));
    MUST(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemsetD8(all, 0, 33 * sizeof(int)));
    MUST(cuCtxSynchronize());
    MUST(cuStreamBeginCapture(one, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    write(numbers, all, one);
    MUST(cuEventRecord(event, one));
    MUST(cuStreamWaitEvent(other, event, 0));
    sum(sums, all, other);
    MUST(cuEventRecord(event, other));
    MUST(cuStreamWaitEvent(one, event, 0));
    MUST(cuStreamEndCapture(one, &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, one));
    MUST(cuStreamSynchronize(one));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
    MUST(cuEventDestroy(event));
    MUST(cuStreamDestroy(other));
    MUST(cuStreamDestroy(one));
    MUST(cuMemFree(all));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
