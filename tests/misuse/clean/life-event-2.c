/* SPDX-License-Identifier: MIT */
/*
 * A queue keeps an event for each of its entries. Its growth makes those that it lacks.
 */
#include "misuse.h"

static CUevent events[8];
static int count;

NAMED void resize(int wanted)
{
    for (int i = count; i < wanted; i++)
        MUST(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    count = wanted;
}

NAMED void close_queue(void)
{
    for (int i = 0; i < count; i++)
        MUST(cuEventDestroy(events[i]));
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    resize(2);
    resize(8);
    close_queue();
    MUST(cuCtxDestroy(context));
    return 0;
}
