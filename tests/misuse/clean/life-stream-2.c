/* SPDX-License-Identifier: MIT */
/*
 * A worker destroys its stream on both ways out.
 */
#include "misuse.h"

NAMED int run_job(size_t bytes)
{
    CUstream stream;
    CUdeviceptr memory;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (cuMemAlloc(&memory, bytes) != CUDA_SUCCESS) {
        MUST(cuStreamDestroy(stream));
        return 0;
    }
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
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    int done = run_job(4096) + run_job((size_t)1 << 50);
    printf("%d of 2 jobs\n", done);
    MUST(cuCtxSetCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
