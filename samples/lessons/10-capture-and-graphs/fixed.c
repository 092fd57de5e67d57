/* SPDX-License-Identifier: MIT */
/*
 * Lesson 10: two fills are captured as a graph. Memory is allocated before the capture.
 */
#include "lesson.h"

enum { BYTES = 64 };

int main(void)
{
    CUcontext context;
    CUstream stream;
    CUdeviceptr left, right = 0;
    CUgraph graph = NULL;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&left, BYTES));
    printf("allocating: %s\n", name_of(cuMemAlloc(&right, BYTES)));

    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD8Async(left, 1, BYTES, stream));
    printf("filling: %s\n", name_of(cuMemsetD8Async(right, 2, BYTES, stream)));
    printf("ending the capture: %s\n", name_of(cuStreamEndCapture(stream, &graph)));
    printf("there is %s graph\n", graph != NULL ? "a" : "no");

    if (graph != NULL)
        MUST(cuGraphDestroy(graph));
    MUST(cuCtxDestroy(context));
    return 0;
}
