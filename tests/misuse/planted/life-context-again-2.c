/* SPDX-License-Identifier: MIT */
/*
 * Each of many short threads creates a context of its own, and works in it.
 *
 * options: --notes
 * expect: LIFE-CONTEXT-AGAIN
 * at: run
 */
#include "misuse.h"

#include <pthread.h>

NAMED void *run(void *unused)
{
    CUcontext context;
    CUstream stream;
    (void)unused;
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamDestroy(stream));
    MUST(cuCtxDestroy(context));
    return NULL;
}

int main(void)
{
    MUST(cuInit(0));
    for (int i = 0; i < 64; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run, NULL) != 0)
            return MISUSE_CANNOT;
        pthread_join(thread, NULL);
    }
    return 0;
}
