/* SPDX-License-Identifier: MIT */
/*
 * Two pinned buffers take turns, and the end of the program frees both.
 */
#include "misuse.h"

enum { BYTES = 1024 };
static void *buffers[2];
static int turn;

NAMED void open_buffers(void)
{
    for (int i = 0; i < 2; i++)
        MUST(cuMemHostAlloc(&buffers[i], BYTES, 0));
}

NAMED void fetch(CUdeviceptr source)
{
    MUST(cuMemcpyDtoH(buffers[turn], source, BYTES));
    turn = 1 - turn;
}

NAMED void close_buffers(void)
{
    for (int i = 0; i < 2; i++)
        MUST(cuMemFreeHost(buffers[i]));
}

int main(void)
{
    CUcontext context;
    CUdeviceptr source;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAlloc(&source, BYTES));
    MUST(cuMemsetD8(source, 0, BYTES));
    open_buffers();
    for (int i = 0; i < 5; i++)
        fetch(source);
    close_buffers();
    MUST(cuMemFree(source));
    MUST(cuCtxSetCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
