/* SPDX-License-Identifier: MIT */
/*
 * A worker closes the GPU when it has the last result, with cuCtxDestroy, while the main thread
 * that set the context current still has it. The main thread does not learn of it before its next
 * call.
 *
 * expect: CURRENT-DESTROYED-ELSEWHERE
 * at: finish
 * origin: made open_gpu
 * origin: pushed main
 * says: context 1 of GPU 0
 * origin: ended finish
 * says: context 1 of GPU 0 was ended by cuCtxDestroy_v2
 * says: thread 1 "main" has it on its stack
 */
#include "misuse.h"

#include <pthread.h>

static CUcontext context;
static CUdeviceptr result;

NAMED void open_gpu(void)
{
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuCtxPopCurrent(NULL));
}

NAMED void *finish(void *out)
{
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemcpyDtoH(out, result, sizeof(int)));
    MUST(cuMemFree(result));
    MUST(cuCtxDestroy(context)); /* leaves the stack of this thread */
    return out;
}

int main(void)
{
    pthread_t thread;
    int out = 0;
    open_gpu();
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAlloc(&result, sizeof(int)));
    MUST(cuMemsetD32(result, 42, 1));
    if (pthread_create(&thread, NULL, finish, &out) != 0)
        return 1;
    pthread_join(thread, NULL);
    printf("%d\n", out);
    return 0;
}
