/* SPDX-License-Identifier: MIT */
/*
 * A program keeps the handle of its stream in 32 bits, which have no room for a pointer. The
 * driver never gave out the value that comes back.
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

NAMED CUresult wait_for(int place)
{
    uintptr_t handle = identifiers[place];
    return cuStreamSynchronize((CUstream)handle);
}

int main(void)
{
    CUcontext context;
    CUstream stream;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    remember(0, stream);
    puts(wait_for(0) == CUDA_SUCCESS ? "done" : "lost");
    MUST(cuStreamDestroy(stream));
    MUST(cuCtxDestroy(context));
    return 0;
}
