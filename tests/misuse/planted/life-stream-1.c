/* SPDX-License-Identifier: MIT */
/*
 * A program makes a stream for each request and destroys none. Each of them takes memory and a
 * place among the queues of the device as long as the context lives.
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
    MUST(cuCtxCreate(&context, 0, 0)); /* left to the system, with the process */
    MUST(cuMemAlloc(&buffer, 64));
    for (unsigned char i = 0; i < 10; i++)
        answer(i);
    MUST(cuMemFree(buffer));
    return 0;
}
