/* SPDX-License-Identifier: MIT */
/*
 * A server enters the context of the GPU that a request names. Requests of no bytes go to the
 * next turn of the loop before the pop, and so each of them leaves an entry on the stack.
 *
 * expect: STACK-GROWS
 * at: serve
 * origin: pushed serve
 * says: 64 entries on the stack are from here
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
        MUST(cuCtxPushCurrent(contexts[i % GPUS]));
        if (bytes == 0)
            continue;
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
