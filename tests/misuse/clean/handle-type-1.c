/* SPDX-License-Identifier: MIT */
/* The function first looks at the type of the handle, which the list keeps too. */
#include "misuse.h"

static void *handles[4];
static int is_stream[4], count;

NAMED void add_stream(void)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    is_stream[count] = 1;
    handles[count++] = stream;
}

NAMED void add_event(void)
{
    CUevent event;
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    handles[count++] = event;
}

NAMED CUresult wait_for(int i)
{
    if (!is_stream[i])
        return cuEventSynchronize((CUevent)handles[i]);
    return cuStreamSynchronize((CUstream)handles[i]);
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    add_stream();
    add_event();
    for (int i = 0; i < count; i++)
        if (wait_for(i) != CUDA_SUCCESS)
            fprintf(stderr, "handle %d was not waited for\n", i);
    MUST(cuStreamDestroy((CUstream)handles[0]));
    MUST(cuEventDestroy((CUevent)handles[1]));
    MUST(cuCtxDestroy(context));
    return 0;
}
