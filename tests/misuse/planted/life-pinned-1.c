/* SPDX-License-Identifier: MIT */
/*
 * A program allocates pinned memory for each transfer and forgets its address. The pages stay
 * pinned, and the system cannot use them for anything else.
 *
 * options: --leaks --ignore LIFE-CONTEXT
 * expect: LIFE-PINNED
 * at: send
 */
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
    return 0;
}
