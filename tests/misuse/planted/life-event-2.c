/* SPDX-License-Identifier: MIT */
/*
 * A queue keeps an event for each of its entries. Its growth makes new events and forgets those
 * that it had.
 *
 * options: --leaks --ignore LIFE-CONTEXT
 * expect: LIFE-EVENT
 * at: resize
 * origin: made resize
 * says: event 1 of GPU 0
 */
#include "misuse.h"

static CUevent events[8];
static int count;

NAMED void resize(int wanted)
{
    for (int i = 0; i < wanted; i++)
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
    MUST(cuCtxCreate(&context, 0, 0)); /* left to the system, with the process */
    resize(2);
    resize(8);
    close_queue();
    return 0;
}
