/* SPDX-License-Identifier: MIT */
/*
 * A program times a copy on the second GPU with an event of the first, which was current when the
 * event was created. An event can be recorded in streams of its own context only.
 *
 * expect: OWNER-EVENT
 * at: mark
 * origin: made create_event
 * origin: made create_stream
 */
#include "misuse.h"

static CUcontext contexts[2];

NAMED CUevent create_event(void)
{
    CUevent event;
    MUST(cuEventCreate(&event, CU_EVENT_DEFAULT));
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
    CUevent event = create_event();
    mark(event, stream);
    MUST(cuEventSynchronize(event));
    MUST(cuEventDestroy(event));
    MUST(cuStreamDestroy(stream));
    MUST(cuCtxPopCurrent(NULL));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
