/* SPDX-License-Identifier: MIT */
/*
 * The program is compiled so that each thread has a default stream of its own. A thread fills
 * memory and ends; the main thread fills it again in its own default stream, which nothing orders
 * behind that of the other thread.
 *
 * expect: ORDER-COPY
 * at: mark
 * origin: first clear
 * origin: second mark
 * says: cuMemsetD8Async in the default stream of thread 2
 * says: cuMemsetD8Async in the default stream of thread 1
 * driver: threads lazy random:1 random:2 random:3
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
