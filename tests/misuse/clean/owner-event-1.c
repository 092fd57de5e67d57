/* SPDX-License-Identifier: MIT */
/*
 * A program times a copy on the second GPU with an event that was created in the context of the
 * stream.
 */
#include "misuse.h"

static CUcontext contexts[2];

NAMED CUevent create_event(CUcontext context)
{
    CUevent event;
    MUST(cuCtxPushCurrent(context));
    MUST(cuEventCreate(&event, CU_EVENT_DEFAULT));
    MUST(cuCtxPopCurrent(NULL));
    return event;
}

NAMED CUstream create_stream(CUcontext context)
{
    CUstream stream;
    MUST(cuCtxPushCurrent(context));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuCtxPopCurrent(NULL));
    return stream;
}

NAMED void mark(CUevent event, CUstream stream)
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
    CUstream stream = create_stream(contexts[1]);
    CUevent event = create_event(contexts[1]);
    mark(event, stream);
    MUST(cuEventSynchronize(event));
    MUST(cuEventDestroy(event));
    MUST(cuStreamDestroy(stream));
    MUST(cuCtxPopCurrent(NULL));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
