/* SPDX-License-Identifier: MIT */
/*
 * The host function only sets a flag. The program frees the memory when it has waited for the
 * stream.
 */
#include "gpu.h"

typedef struct job {
    CUdeviceptr scratch;
    int done;
} job;

NAMED void done(void *argument)
{
    job *self = argument;
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
    MUST(cuMemFree(work.scratch));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return !work.done;
}
