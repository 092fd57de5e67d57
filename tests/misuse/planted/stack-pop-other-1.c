/* SPDX-License-Identifier: MIT */
/*
 * Inside a push and its pop a function switches to the second GPU with cuCtxSetCurrent. The entry
 * that was pushed is replaced, and the pop takes away another context than was pushed: the rest
 * of the work, meant for the first GPU, has gone to the second.
 *
 * expect: STACK-POP-OTHER
 * at: leave
 * origin: pushed enter
 * origin: set copy_out
 */
#include "misuse.h"

static CUcontext contexts[2];

NAMED void enter(void)
{
    MUST(cuCtxPushCurrent(contexts[0]));
}

NAMED void leave(void)
{
    MUST(cuCtxPopCurrent(NULL));
}

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
    enter();
    MUST(cuMemAlloc(&buffer, 64));
    MUST(cuMemsetD8(buffer, 0, 64));
    CUdeviceptr copy = copy_out(buffer, 64);
    MUST(cuMemFree(copy));
    MUST(cuMemFree(buffer));
    leave();
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
