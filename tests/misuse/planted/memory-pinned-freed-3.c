/* SPDX-License-Identifier: MIT */
/*
 * The program is compiled so that each thread has a default stream of its own. A worker starts a
 * copy in its default stream. The main thread waits for the default stream, which is another one,
 * and frees the memory of the copy.
 *
 * expect: MEMORY-PINNED-FREED
 * at: main
 * origin: made main
 * origin: first upload
 * says: cuMemcpyHtoDAsync_v2 in the default stream of thread 2 is pending
 * exit: 0
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
