/* SPDX-License-Identifier: MIT */
/*
 * A callback of one stream starts the next step in another stream. The driver refuses the launch
 * from a callback, and the next step never comes.
 *
 * expect: PROCESS-CALLBACK
 * at: next_step
 */
#include "gpu.h"

typedef struct step {
    CUdeviceptr data;
    CUstream stream;
} step;

NAMED void CUDA_CB next_step(CUstream before, CUresult result, void *argument)
{
    const step *next = argument;
    (void)before;
    if (result == CUDA_SUCCESS)
        (void)cuMemsetD8Async(next->data, 2, 4096, next->stream);
}

int main(void)
{
    step next;
    CUstream first;
    use_gpu(0);
    MUST(cuMemAlloc(&next.data, 4096));
    MUST(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&next.stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemsetD8Async(next.data, 1, 4096, first));
    MUST(cuStreamAddCallback(first, next_step, &next, 0));
    MUST(cuStreamSynchronize(first));
    MUST(cuStreamDestroy(first));
    MUST(cuStreamDestroy(next.stream));
    MUST(cuMemFree(next.data));
    leave_gpu(0);
    return 0;
}
