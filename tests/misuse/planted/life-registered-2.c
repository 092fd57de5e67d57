/* SPDX-License-Identifier: MIT */
/*
 * A program registers a table of its own, which lives as long as the process, each time the
 * device is opened, and never unregisters it. The second time is refused, since the pages are
 * still pinned.
 *
 * options: --leaks
 * expect: LIFE-REGISTERED
 * at: open_gpu
 * origin: made open_gpu
 * says: 4096 bytes of registered memory
 */
#include "misuse.h"

static _Alignas(4096) char table[4096];

NAMED CUcontext open_gpu(void)
{
    CUcontext context;
    MUST(cuCtxCreate(&context, 0, 0));
    if (cuMemHostRegister(table, sizeof table, 0) != CUDA_SUCCESS)
        fputs("the table is not registered\n", stderr);
    return context;
}

NAMED void close_gpu(CUcontext context)
{
    MUST(cuCtxDestroy(context));
}

int main(void)
{
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        close_gpu(open_gpu());
    return 0;
}
