/* SPDX-License-Identifier: MIT */
/*
 * A list of objects keeps handles as void pointers. One place takes an event for a stream: the
 * driver gets a handle of another type, which it refuses at best.
 *
 * expect: HANDLE-TYPE
 * at: wait_for_all
 * origin: made add_event
 */
#include "misuse.h"

static void *objects[4];
static int count;

NAMED void add_stream(void)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    objects[count++] = stream;
}

NAMED void add_event(void)
{
    CUevent event;
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    objects[count++] = event;
}

NAMED int wait_for_all(void)
{
    int failed = 0;
    for (int i = 0; i < count; i++)
        failed += cuStreamSynchronize((CUstream)objects[i]) != CUDA_SUCCESS;
    return failed;
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    add_stream();
    add_event();
    printf("%d of %d could not be waited for\n", wait_for_all(), count);
    MUST(cuStreamDestroy((CUstream)objects[0]));
    MUST(cuEventDestroy((CUevent)objects[1]));
    MUST(cuCtxDestroy(context));
    return 0;
}
