/* SPDX-License-Identifier: MIT */
/*
 * A worker makes a stream and leaves it where its memory is missing: the way out of the error
 * forgets what had been made before.
 *
 * options: --leaks --ignore PRIMARY-KEPT
 * expect: LIFE-STREAM
 * at: run_job
 * origin: made run_job
 * says: stream 2 of GPU 0
 */
#include "misuse.h"

NAMED int run_job(size_t bytes)
{
    CUstream stream;
    CUdeviceptr memory;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (cuMemAlloc(&memory, bytes) != CUDA_SUCCESS)
        return 0;
    MUST(cuMemsetD8Async(memory, 0, bytes, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFree(memory));
    MUST(cuStreamDestroy(stream));
    return 1;
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0)); /* left to the system, with the process */
    MUST(cuCtxSetCurrent(context));
    int done = run_job(4096) + run_job((size_t)1 << 50);
    printf("%d of 2 jobs\n", done);
    return 0;
}
