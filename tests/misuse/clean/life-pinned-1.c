/* SPDX-License-Identifier: MIT */
/* The program frees the memory when the copy is done, and destroys the context at its end. */
#include "misuse.h"

#include <string.h>

enum { BYTES = 4096 };
static CUdeviceptr destination;

NAMED void send(int value)
{
    void *staged;
    MUST(cuMemAllocHost(&staged, BYTES));
    memset(staged, value, BYTES);
    MUST(cuMemcpyHtoD(destination, staged, BYTES));
    MUST(cuMemFreeHost(staged));
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuMemAlloc(&destination, BYTES));
    for (int i = 0; i < 3; i++)
        send(i);
    MUST(cuMemFree(destination));
    MUST(cuCtxDestroy(context));
    return 0;
}
