/* SPDX-License-Identifier: MIT */
/* The host function only tells a thread of the program, which frees the memory. */
#include "gpu.h"

#include <semaphore.h>

static sem_t is_done;

NAMED void done(void *argument)
{
    (void)argument;
    sem_post(&is_done);
}

NAMED void work(CUdeviceptr scratch, CUstream stream)
{
    MUST(cuMemsetD8Async(scratch, 0, 4096, stream));
    MUST(cuLaunchHostFunc(stream, done, NULL));
}

int main(void)
{
    CUdeviceptr scratch;
    CUstream stream;
    use_gpu(0);
    sem_init(&is_done, 0, 0);
    MUST(cuMemAlloc(&scratch, 4096));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    work(scratch, stream);
    sem_wait(&is_done);
    MUST(cuMemFree(scratch));
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
