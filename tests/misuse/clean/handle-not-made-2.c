/* SPDX-License-Identifier: MIT */
/*
 * A program looks whether an event was created before it uses it.
 *
 * provokes: CALL-FAILED
 */
#include "misuse.h"

static CUevent event;

NAMED int create(unsigned int flags)
{
    return cuEventCreate(&event, flags) == CUDA_SUCCESS;
}

NAMED void measure(unsigned int flags)
{
    if (!create(flags)) {
        fputs("no time was measured\n", stderr);
        return;
    }
    MUST(cuEventRecord(event, NULL));
    MUST(cuEventSynchronize(event));
    MUST(cuEventDestroy(event));
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    measure(CU_EVENT_DEFAULT);
    measure(1u << 20);
    MUST(cuCtxDestroy(context));
    return 0;
}
