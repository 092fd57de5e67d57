/* SPDX-License-Identifier: MIT */
/*
 * A program creates two contexts one behind the other at one place, fewer than a loop would, and
 * keeps many at another one.
 */
#include "misuse.h"

enum { KEPT = 64 };

NAMED CUcontext create(int device)
{
    CUcontext context;
    MUST(cuCtxCreate(&context, 0, device));
    MUST(cuCtxPopCurrent(&context));
    return context;
}

int main(void)
{
    CUcontext all[KEPT];
    MUST(cuInit(0));
    for (int i = 0; i < KEPT; i++)
        all[i] = create(0);
    for (int i = 0; i < KEPT; i++)
        MUST(cuCtxDestroy(all[i]));
    return 0;
}
