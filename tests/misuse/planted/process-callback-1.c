/* SPDX-License-Identifier: MIT */
/*
 * A host function, which the stream calls behind the work, frees the memory of the work. Host
 * functions must not call the driver: the call is refused, and the memory is never freed.
 *
 * expect: PROCESS-CALLBACK
 * at: done
 */
#include "gpu.h"

typedef struct job {
    CUdeviceptr scratch;
    int done;
} job;

NAMED void done(void *argument)
{
    job *self = argument;
    if (cuMemFree(self->scratch) != CUDA_SUCCESS)
        fputs("the memory stays\n", stderr);
    self->done = 1;
}

int main(void)
{
    job work = {0};
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&work.scratch, 4096));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemsetD8Async(work.scratch, 0, 4096, stream));
    MUST(cuLaunchHostFunc(stream, done, &work));
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return !work.done;
}
