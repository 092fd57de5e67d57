/* SPDX-License-Identifier: MIT */
/*
 * A program creates a stream for each request and destroys none. Each stream takes memory, and one
 * of the queues of the device, as long as the context lives. (The context is left to the system,
 * so that its end does not end the streams.)
 *
 * options: --leaks --ignore LIFE-CONTEXT
 * expect: LIFE-STREAM
 * at: answer
 * origin: made answer
 */
#include "misuse.h"

static CUdeviceptr buffer;

NAMED void answer(unsigned char request)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemsetD8Async(buffer, request, 64, stream));
    MUST(cuStreamSynchronize(stream));
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuMemAlloc(&buffer, 64));
    for (unsigned char i = 0; i < 10; i++)
        answer(i);
    MUST(cuMemFree(buffer));
    return 0;
}
