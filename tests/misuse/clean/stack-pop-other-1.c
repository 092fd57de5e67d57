/* SPDX-License-Identifier: MIT */
/* The function works on the second GPU between a push and a pop of its own. */
#include "misuse.h"

static CUcontext contexts[2];

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
