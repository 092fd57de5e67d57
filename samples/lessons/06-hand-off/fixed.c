/* SPDX-License-Identifier: MIT */
/*
 * Lesson 6: a producer hands a context with its result to a consumer thread. The context is
 * destroyed when nobody needs it any more.
 */
#include "lesson.h"

#include <pthread.h>
#include <semaphore.h>

enum { BYTES = 64 };

static CUcontext context;
static CUdeviceptr result;
static sem_t taken, go_on;

static void *consume(void *unused)
{
    unsigned char byte = 0;
    CUcontext current;
    MUST(cuCtxPushCurrent(context));
    sem_post(&taken);
    sem_wait(&go_on);
    MUST(cuCtxGetCurrent(&current));
    printf("the consumer has %s\n", current == context ? "the context" : "none");
    printf("reading gives %s\n", name_of(cuMemcpyDtoH(&byte, result, 1)));
    printf("the byte is %d\n", byte);
    MUST(cuCtxPopCurrent(NULL));
    return unused;
}

int main(void)
{
    pthread_t consumer;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuMemAlloc(&result, BYTES));
    MUST(cuMemsetD8(result, 42, BYTES));
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL)); /* from now on it is the consumer's */
    if (sem_init(&taken, 0, 0) != 0 || sem_init(&go_on, 0, 0) != 0 ||
        pthread_create(&consumer, NULL, consume, NULL) != 0)
        return 1;
    sem_wait(&taken);
    sem_post(&go_on);
    pthread_join(consumer, NULL);
    MUST(cuCtxDestroy(context)); /* nobody has it current any more */
    return 0;
}
