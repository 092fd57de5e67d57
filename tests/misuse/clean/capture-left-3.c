/* SPDX-License-Identifier: MIT */
/*
 * A window that is closed while a frame is captured ends the capture first.
 */
#include "gpu.h"

NAMED CUstream begin_frame(CUdeviceptr frame)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuMemsetD8Async(frame, 1, 4096, stream));
    return stream;
}

NAMED void close_window(CUcontext context, CUstream stream)
{
    CUgraph graph;
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphDestroy(graph));
    MUST(cuCtxDestroy(context));
}

int main(void)
{
    CUcontext context;
    CUdeviceptr frame;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuMemAlloc(&frame, 4096));
    close_window(context, begin_frame(frame));
    return 0;
}
