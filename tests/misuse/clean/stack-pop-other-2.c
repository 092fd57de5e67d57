/* SPDX-License-Identifier: MIT */
/*
 * A function goes over all GPUs and pushes and pops the context of each, so that every pop gives
 * what was pushed.
 */
#include "misuse.h"

enum { GPUS = 3 };
static CUcontext contexts[GPUS];

NAMED size_t memory_of(int device)
{
    size_t unused, total;
    CUcontext popped;
    MUST(cuCtxPushCurrent(contexts[device]));
    MUST(cuMemGetInfo(&unused, &total));
    MUST(cuCtxPopCurrent(&popped));
    if (popped != contexts[device])
        puts("popped something else");
    return total;
}

NAMED size_t total_memory(void)
{
    size_t sum = 0;
    for (int i = 0; i < GPUS; i++)
        sum += memory_of(i);
    return sum;
}

int main(void)
{
    MUST(cuInit(0));
    for (int i = 0; i < GPUS; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
    printf("%zu MiB\n", total_memory() >> 20);
    for (int i = 0; i < GPUS; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
