/* SPDX-License-Identifier: MIT */
/* The context of the stream is current when the event is created. */
#include "misuse.h"

static CUcontext contexts[2];

NAMED CUevent create_event(void)
{
    CUevent event;
    MUST(cuEventCreate(&event, CU_EVENT_DEFAULT));
    return event;
}

NAMED CUstream create_stream(void)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

NAMED void record(CUevent event, CUstream stream)
{
    if (cuEventRecord(event, stream) != CUDA_SUCCESS)
        fputs("the event was not recorded\n", stderr);
}

int main(void)
{
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
    MUST(cuCtxPushCurrent(contexts[0]));
    MUST(cuCtxPushCurrent(contexts[1]));
    CUevent event = create_event();
    CUstream stream = create_stream();
    record(event, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
    MUST(cuEventDestroy(event));
    for (int i = 1; i >= 0; i--) {
        MUST(cuCtxPopCurrent(NULL));
        MUST(cuDevicePrimaryCtxRelease(i));
    }
    return 0;
}
