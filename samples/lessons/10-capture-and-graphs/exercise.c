/* SPDX-License-Identifier: MIT */
/*
 * Lesson 10, exercise: the fill of the left half is captured in `stream`, that of the right half is
 * to be captured in `side`, so that a launch can do both at once. Bring `side` into the capture
 * before its work, and back behind it.
 *
 * Write between the comments only, in two places. Check it: ctxrt lesson 10 --check
 */
#include "lesson.h"

enum { HALF = 64 };

static CUgraph capture(CUdeviceptr data, CUstream stream, CUstream side, CUevent fork, CUevent join,
                       unsigned char value)
{
    CUgraph graph = NULL;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    /* ---- your lines begin ---- */
    (void)fork;
    /* ---- your lines end ---- */
    MUST(cuMemsetD8Async(data, value, HALF, stream));
    MUST(cuMemsetD8Async(data + HALF, (unsigned char)(value + 1), HALF, side));
    /* ---- your lines begin ---- */
    (void)join;
    /* ---- your lines end ---- */
    MUST(cuStreamEndCapture(stream, &graph));
    return graph;
}

static void show(const char *when, CUdeviceptr data)
{
    unsigned char bytes[2 * HALF];
    MUST(cuMemcpyDtoH(bytes, data, sizeof bytes));
    printf("%s: left %d, right is left + %d\n", when, bytes[0], bytes[HALF] - bytes[0]);
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUstream stream, side;
    CUevent fork, join;
    CUdeviceptr data;
    CUgraphExec executable;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemAlloc(&data, 2 * HALF));
    CUgraph graph = capture(data, stream, side, fork, join, (unsigned char)number_of(argc, argv));
    MUST(cuCtxSynchronize());
    MUST(cuMemsetD8(data, 0, 2 * HALF));
    MUST(cuCtxSynchronize());
    show("after the capture", data);
    MUST(cuGraphInstantiate(&executable, graph, 0));
    MUST(cuGraphLaunch(executable, stream));
    MUST(cuStreamSynchronize(stream));
    show("after a launch", data);
    MUST(cuGraphExecDestroy(executable));
    MUST(cuGraphDestroy(graph));
    MUST(cuCtxDestroy(context));
    return 0;
}
