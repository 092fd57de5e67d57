/* SPDX-License-Identifier: MIT */
/*
 * A program keeps the handle of its stream in an integer that has room for a pointer.
 */
#include "misuse.h"

#include <stdint.h>

static uintptr_t identifiers[8];

NAMED void remember(int place, CUstream stream)
{
    identifiers[place] = (uintptr_t)stream;
}

NAMED int wait_for(int place)
{
    return cuStreamSynchronize((CUstream)identifiers[place]) == CUDA_SUCCESS;
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
