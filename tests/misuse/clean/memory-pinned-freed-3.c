/* SPDX-License-Identifier: MIT */
/*
 * Each thread has a default stream of its own. The worker that starts the copy waits for its
 * default stream.
 */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "gpu.h"

#include <pthread.h>
#include <string.h>

enum { BYTES = 4096 };

static CUcontext context;
static CUdeviceptr memory;
static void *source;

NAMED void upload(void)
{
    MUST(cuMemcpyHtoDAsync(memory, source, BYTES, NULL));
    MUST(cuStreamSynchronize(NULL));
}

static void *work(void *unused)
{
    MUST(cuCtxSetCurrent(context));
    upload();
    MUST(cuCtxSetCurrent(NULL));
    return unused;
}

int main(void)
{
    pthread_t worker;
    context = use_gpu(0);
    MUST(cuMemAlloc(&memory, BYTES));
    MUST(cuMemAllocHost(&source, BYTES));
    memset(source, 1, BYTES);
    if (pthread_create(&worker, NULL, work, NULL) != 0)
        abort();
    pthread_join(worker, NULL);
    MUST(cuStreamSynchronize(NULL));
    MUST(cuMemFreeHost(source));
    MUST(cuMemFree(memory));
    leave_gpu(0);
    return 0;
}
