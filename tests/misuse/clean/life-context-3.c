/* SPDX-License-Identifier: MIT */
/*
 * A context is attached once more and detached twice, the last time by its owner, as PyCUDA ends
 * its contexts with cuCtxDetach alone. It is gone then, and no longer current.
 */
#include "misuse.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
CUresult cuCtxAttach(CUcontext *context, unsigned int flags);
CUresult cuCtxDetach(CUcontext context);

NAMED void use_shared(void)
{
    CUcontext context;
    MUST(cuCtxAttach(&context, 0));
    MUST(cuCtxSynchronize());
    MUST(cuCtxDetach(context));
}

int main(void)
{
    CUcontext context, current;
    CUdeviceptr memory;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    use_shared();
    MUST(cuMemAlloc(&memory, 64));
    MUST(cuMemFree(memory));
    MUST(cuCtxDetach(context));
    MUST(cuCtxGetCurrent(&current));
    return current != NULL;
}
