/* SPDX-License-Identifier: MIT */
/* The next step is given to its stream at once, and waits there for an event of the first one. */
#include "gpu.h"

typedef struct step {
    CUdeviceptr data;
    CUstream stream;
} step;

NAMED void next_step(const step *next, CUevent before)
{
    MUST(cuStreamWaitEvent(next->stream, before, 0));
    MUST(cuMemsetD8Async(next->data, 2, 4096, next->stream));
}

int main(void)
{
    step next;
    CUstream first;
    CUevent done;
    use_gpu(0);
    MUST(cuMemAlloc(&next.data, 4096));
    MUST(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&next.stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemsetD8Async(next.data, 1, 4096, first));
    MUST(cuEventRecord(done, first));
    next_step(&next, done);
    MUST(cuStreamSynchronize(next.stream));
    MUST(cuEventDestroy(done));
    MUST(cuStreamDestroy(first));
    MUST(cuStreamDestroy(next.stream));
    MUST(cuMemFree(next.data));
    leave_gpu(0);
    return 0;
}
