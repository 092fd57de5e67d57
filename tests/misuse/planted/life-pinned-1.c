/* SPDX-License-Identifier: MIT */
/*
 * A program pins memory for each transfer and lets the pointer go out of scope. The memory stays,
 * and its pages cannot be used by anybody else.
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
    MUST(cuCtxCreate(&context, 0, 0)); /* left to the system, with the process */
    MUST(cuMemAlloc(&destination, BYTES));
    for (int i = 0; i < 3; i++)
        send(i);
    MUST(cuMemFree(destination));
    return 0;
}
