/* SPDX-License-Identifier: MIT */
/*
 * A program chooses a GPU, for which it needs no context, and retains the context of that one.
 */
#include "misuse.h"

enum { GPUS = 2 };
static CUcontext contexts[GPUS];

NAMED void open_one(int best)
{
    MUST(cuDevicePrimaryCtxRetain(&contexts[best], best));
}

NAMED int choose_gpu(void)
{
    size_t bytes[GPUS];
    for (int i = 0; i < GPUS; i++)
        MUST(cuDeviceTotalMem(&bytes[i], i));
    return bytes[1] > bytes[0];
}

NAMED void work_on(int device)
{
    CUdeviceptr buffer;
    MUST(cuCtxPushCurrent(contexts[device]));
    MUST(cuMemAlloc(&buffer, 4096));
    MUST(cuMemFree(buffer));
    MUST(cuCtxPopCurrent(NULL));
}

NAMED void release_all(void)
{
    for (int i = 0; i < GPUS; i++)
        if (contexts[i] != NULL)
            MUST(cuDevicePrimaryCtxRelease(i));
}

int main(void)
{
    MUST(cuInit(0));
    int best = choose_gpu();
    open_one(best);
    work_on(best);
    release_all();
    return 0;
}
