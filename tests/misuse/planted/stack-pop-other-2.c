/* SPDX-License-Identifier: MIT */
/*
 * A function pushes the context of a GPU once and then goes over all GPUs with cuCtxSetCurrent.
 * Its pop removes the context of the last GPU; a caller that looks at what the pop gives, to
 * check its own book-keeping, gets one that it never pushed.
 *
 * expect: STACK-POP-OTHER
 * at: total_memory
 * origin: pushed total_memory
 * origin: set memory_of
 * says: the primary context of GPU 0 was pushed by stack-pop-other-2
 * says: it was replaced by stack-pop-other-2
 */
#include "misuse.h"

enum { GPUS = 3 };
static CUcontext contexts[GPUS];

NAMED size_t memory_of(int device)
{
    size_t unused, total;
    MUST(cuCtxSetCurrent(contexts[device]));
    MUST(cuMemGetInfo(&unused, &total));
    return total;
}

NAMED size_t total_memory(void)
{
    size_t sum = 0;
    CUcontext popped;
    MUST(cuCtxPushCurrent(contexts[0]));
    for (int i = 0; i < GPUS; i++)
        sum += memory_of(i);
    MUST(cuCtxPopCurrent(&popped));
    printf("popped %s\n", popped == contexts[0] ? "what was pushed" : "something else");
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
