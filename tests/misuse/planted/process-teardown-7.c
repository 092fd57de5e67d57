/* SPDX-License-Identifier: MIT */
/*
 * A thread-local object of the main thread frees its memory when it ends, which is after main has
 * returned. It was made after the thread's first call of the driver, so that it is the first to
 * end.
 *
 * expect: PROCESS-TEARDOWN
 * at: end_cache
 * origin: first use_gpu
 * exit: 0
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
    work(NULL);
    return 0;
}
