/* SPDX-License-Identifier: MIT */
/*
 * A context is attached once more and detached once: it is alive at the end.
 *
 * options: --leaks
 * expect: LIFE-CONTEXT
 * at: main
 * origin: made main
 * says: context 1 of GPU 0
 */
#include "misuse.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
CUresult cuCtxAttach(CUcontext *context, unsigned int flags);
CUresult cuCtxDetach(CUcontext context);

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuCtxAttach(&context, 0));
    MUST(cuCtxDetach(context));
    return 0;
}
