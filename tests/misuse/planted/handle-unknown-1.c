/* SPDX-License-Identifier: MIT */
/*
 * A program keeps the handle of its stream in 32 bits. What comes back is no handle that the
 * driver ever gave out.
 *
 * expect: HANDLE-UNKNOWN
 * at: wait_for
 */
#include "misuse.h"

#include <stdint.h>

static uint32_t identifiers[8];

NAMED void remember(int place, CUstream stream)
{
    identifiers[place] = (uint32_t)(uintptr_t)stream;
}

NAMED int wait_for(int place)
{
    return cuStreamSynchronize((CUstream)(uintptr_t)identifiers[place]) == CUDA_SUCCESS;
}

int main(void)
{
    CUcontext context;
    CUstream stream;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    remember(0, stream);
    puts(wait_for(0) ? "done" : "lost");
    MUST(cuStreamDestroy(stream));
    MUST(cuCtxDestroy(context));
    return 0;
}
