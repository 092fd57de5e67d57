/* SPDX-License-Identifier: MIT */
/*
 * A thread-local object frees its memory when its thread ends, which is before main returns.
 */
#include "gpu.h"

#include <pthread.h>

/* The function by which compilers of C++ register the ends of thread-local objects. */
int __cxa_thread_atexit_impl(void (*end)(void *object), void *object, void *of_module);

static CUcontext context;
static _Thread_local CUdeviceptr cache;

NAMED void end_cache(void *object)
{
    (void)cuMemFree(*(CUdeviceptr *)object);
}

static void *work(void *unused)
{
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAlloc(&cache, 4096));
    if (__cxa_thread_atexit_impl(end_cache, &cache, &context) != 0)
        abort();
    return unused;
}

int main(void)
{
    context = use_gpu(0);
    pthread_t worker;
    if (pthread_create(&worker, NULL, work, NULL) != 0)
        abort();
    pthread_join(worker, NULL);
    leave_gpu(0);
    return 0;
}
