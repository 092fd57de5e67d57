/* SPDX-License-Identifier: MIT */
/*
 * A program asks both GPUs how much memory they have free and releases each at once.
 */
#include "misuse.h"

NAMED size_t ask(int device)
{
    CUcontext context;
    size_t available, total;
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemGetInfo(&available, &total));
    MUST(cuCtxPopCurrent(&context));
    MUST(cuDevicePrimaryCtxRelease(device));
    return available;
}

int main(void)
{
    CUcontext context;
    CUdeviceptr memory;
    MUST(cuInit(0));
    puts(ask(0) + ask(1) != 0 ? "room" : "no room");
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemAlloc(&memory, 64));
    MUST(cuMemFree(memory));
    MUST(cuCtxPopCurrent(&context));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
