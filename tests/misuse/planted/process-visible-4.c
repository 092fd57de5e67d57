/* SPDX-License-Identifier: MIT */
/*
 * A program chooses its GPU by the variable after it has initialised the driver, and creates a
 * context: on the first GPU of all.
 *
 * expect: PROCESS-VISIBLE
 * at: create
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
    MUST(cuInit(0));
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    MUST(cuCtxDestroy(create()));
    return 0;
}
