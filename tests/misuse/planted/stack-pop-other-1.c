/* SPDX-License-Identifier: MIT */
/*
 * Between a push and its pop, a function switches to the second GPU with cuCtxSetCurrent. This
 * replaces the entry that was pushed. What follows, meant for the first GPU, goes to the second,
 * and the pop removes a context that nobody pushed.
 *
 * expect: STACK-POP-OTHER
 * at: main
 * origin: pushed main
 * origin: set copy_out
 */
#include "misuse.h"

static CUcontext contexts[2];

NAMED CUdeviceptr copy_out(CUdeviceptr source, size_t bytes)
{
    CUdeviceptr copy;
    MUST(cuCtxSetCurrent(contexts[1]));
    MUST(cuMemAlloc(&copy, bytes));
    MUST(cuMemcpyPeer(copy, contexts[1], source, contexts[0], bytes));
    return copy;
}

int main(void)
{
    CUdeviceptr buffer;
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
    MUST(cuCtxPushCurrent(contexts[0]));
    MUST(cuMemAlloc(&buffer, 64));
    MUST(cuMemsetD8(buffer, 0, 64));
    MUST(cuMemFree(copy_out(buffer, 64)));
    MUST(cuMemFree(buffer));
    MUST(cuCtxPopCurrent(NULL));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
