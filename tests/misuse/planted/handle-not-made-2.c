/* SPDX-License-Identifier: MIT */
/*
 * A program creates an event with a flag that does not exist, does not look at the result, and
 * records what it takes for an event. The variable holds the handle of an earlier one, which is
 * gone.
 *
 * expect: HANDLE-NOT-MADE
 * at: measure
 * origin: made create
 * says: cuEventCreate had failed: CUDA_ERROR_INVALID_VALUE
 */
#include "misuse.h"

static CUevent event;

NAMED int create(unsigned int flags)
{
    return cuEventCreate(&event, flags) == CUDA_SUCCESS;
}

NAMED void measure(unsigned int flags)
{
    (void)create(flags);
    if (cuEventRecord(event, NULL) != CUDA_SUCCESS) {
        fputs("no time was measured\n", stderr);
        return;
    }
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
