/* SPDX-License-Identifier: MIT */
/*
 * A program chooses its GPU by the variable before it initialises the driver.
 */
#define _GNU_SOURCE
#include "misuse.h"

NAMED CUcontext create(void)
{
    CUcontext context;
    MUST(cuCtxCreate(&context, 0, 0));
    return context;
}

int main(void)
{
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    MUST(cuInit(0));
    MUST(cuCtxDestroy(create()));
    return 0;
}
