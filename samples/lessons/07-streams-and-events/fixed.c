/* SPDX-License-Identifier: MIT */
/*
 * Lesson 7: GPU 1 is to copy a buffer when GPU 0 has filled it. The event
 * belongs to the context of the stream in which it is recorded.
 */
#include "lesson.h"

enum { BYTES = 64 };

int main(void)
{
    CUcontext first, second;
    CUstream fills, copies;
    CUdeviceptr from, to;
    CUevent filled;
    unsigned char byte = 0;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&first, 0, 0));
    MUST(cuStreamCreate(&fills, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&from, BYTES));
    MUST(cuEventCreate(&filled, CU_EVENT_DISABLE_TIMING));
    MUST(cuCtxCreate(&second, 0, 1));
    MUST(cuStreamCreate(&copies, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&to, BYTES));

    MUST(cuMemsetD8Async(from, 42, BYTES, fills));
    printf("recording the event gives %s\n", name_of(cuEventRecord(filled, fills)));
    printf("waiting for it gives %s\n", name_of(cuStreamWaitEvent(copies, filled, 0)));
    MUST(cuMemcpyPeerAsync(to, second, from, first, BYTES, copies));
    MUST(cuStreamSynchronize(copies));
    MUST(cuMemcpyDtoH(&byte, to, 1));
    printf("GPU 1 has %d\n", byte);

    MUST(cuCtxDestroy(second));
    MUST(cuCtxDestroy(first));
    return 0;
}
