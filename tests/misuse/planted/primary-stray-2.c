/* SPDX-License-Identifier: MIT */
/*
 * A program retains the contexts of all GPUs when it starts, "for later", works on one of them
 * and releases all at its end. The others did nothing but take memory and time.
 *
 * expect: PRIMARY-STRAY
 * at: open_all
 * origin: ended release_all
 * origin: made open_all
 * says: the primary context of GPU 1
 * says: nothing was made or done in it
 */
#include "misuse.h"

enum { GPUS = 2 };
static CUcontext contexts[GPUS];

NAMED void open_all(int best)
{
    (void)best;
    for (int i = 0; i < GPUS; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
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
    open_all(best);
    work_on(best);
    release_all();
    return 0;
}
