/* SPDX-License-Identifier: MIT */
/*
 * Each thread has a default stream of its own. The thread that fills the memory waits for its
 * default stream before it ends.
 */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "gpu.h"

#include <pthread.h>

enum { BYTES = 4096 };

static CUcontext context;
static CUdeviceptr memory;

NAMED void clear(void)
{
    MUST(cuMemsetD8Async(memory, 0, BYTES, NULL));
    MUST(cuStreamSynchronize(NULL));
}

NAMED void mark(void)
{
    MUST(cuMemsetD8Async(memory, 1, 16, NULL));
    MUST(cuStreamSynchronize(NULL));
}

static void *work(void *unused)
{
    MUST(cuCtxSetCurrent(context));
    clear();
    MUST(cuCtxSetCurrent(NULL));
    return unused;
}

int main(void)
{
    pthread_t worker;
    context = use_gpu(0);
    MUST(cuMemAlloc(&memory, BYTES));
    if (pthread_create(&worker, NULL, work, NULL) != 0)
        abort();
    pthread_join(worker, NULL);
    mark();
    MUST(cuMemFree(memory));
    leave_gpu(0);
    return 0;
}
