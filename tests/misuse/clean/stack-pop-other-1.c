/* SPDX-License-Identifier: MIT */
/*
 * Inside a push and its pop a function works on the second GPU by a push and a pop of its own,
 * after which the first one is current again.
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
    MUST(cuCtxPushCurrent(contexts[1]));
    MUST(cuMemAlloc(&copy, bytes));
    MUST(cuMemcpyPeer(copy, contexts[1], source, contexts[0], bytes));
    MUST(cuCtxPopCurrent(NULL));
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
