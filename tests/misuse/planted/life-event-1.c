/* SPDX-License-Identifier: MIT */
/*
 * A program measures each of its steps with two events, and destroys only one of them.
 *
 * options: --leaks --ignore LIFE-CONTEXT
 * expect: LIFE-EVENT
 * at: create_event
 */
#include "misuse.h"

NAMED CUevent create_event(void)
{
    CUevent event;
    MUST(cuEventCreate(&event, CU_EVENT_DEFAULT));
    return event;
}

NAMED void measure(void)
{
    float milliseconds;
    CUevent begin = create_event(), end = create_event();
    MUST(cuEventRecord(begin, NULL));
    MUST(cuEventRecord(end, NULL));
    MUST(cuEventSynchronize(end));
    MUST(cuEventElapsedTime(&milliseconds, begin, end));
    MUST(cuEventDestroy(begin));
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    for (int i = 0; i < 3; i++)
        measure();
    return 0;
}
