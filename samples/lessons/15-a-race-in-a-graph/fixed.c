/* SPDX-License-Identifier: MIT */
/*
 * Lesson 15: one stream fills a buffer and another one copies it. The event is recorded behind the
 * fill.
 */
#include "lesson.h"

enum { BYTES = 64 };

int main(void)
{
    CUcontext context;
    CUstream fills, copies;
    CUdeviceptr from, to;
    CUevent filled, copied;
    CUgraph graph;
    CUgraphExec exec;
    unsigned char byte = 0;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuStreamCreate(&fills, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&copies, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&filled, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&copied, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemAlloc(&from, BYTES));
    MUST(cuMemAlloc(&to, BYTES));

    MUST(cuStreamBeginCapture(fills, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD8Async(from, 42, BYTES, fills));
    MUST(cuEventRecord(filled, fills));
    MUST(cuStreamWaitEvent(copies, filled, 0));
    MUST(cuMemcpyDtoDAsync(to, from, BYTES, copies));
    MUST(cuEventRecord(copied, copies));
    MUST(cuStreamWaitEvent(fills, copied, 0));
    MUST(cuStreamEndCapture(fills, &graph));

    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, fills));
    MUST(cuStreamSynchronize(fills));
    MUST(cuMemcpyDtoH(&byte, to, 1));
    printf("the copy has %d\n", byte);

    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
    MUST(cuCtxDestroy(context));
    return 0;
}
