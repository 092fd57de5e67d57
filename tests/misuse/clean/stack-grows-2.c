/* SPDX-License-Identifier: MIT */
/*
 * A server looks at a request before it enters the context of the GPU that the request names, and
 * leaves that context after each one that it entered.
 */
#include "misuse.h"

enum { GPUS = 2, REQUESTS = 400 };
static CUcontext contexts[GPUS];

NAMED void answer(size_t bytes)
{
    CUdeviceptr buffer;
    MUST(cuMemAlloc(&buffer, bytes));
    MUST(cuMemsetD8(buffer, 0, bytes));
    MUST(cuMemFree(buffer));
}

NAMED void serve(void)
{
    for (int i = 0; i < REQUESTS; i++) {
        size_t bytes = i % 3 == 0 ? 0 : 256;
        if (bytes == 0)
            continue;
        MUST(cuCtxPushCurrent(contexts[i % GPUS]));
        answer(bytes);
        MUST(cuCtxPopCurrent(NULL));
    }
}

int main(void)
{
    MUST(cuInit(0));
    for (int i = 0; i < GPUS; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
    serve();
    for (int i = 0; i < GPUS; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
