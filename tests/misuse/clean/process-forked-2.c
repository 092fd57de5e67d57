/* SPDX-License-Identifier: MIT */
/* A thread answers the request: it shares the context of its process. */
#include "gpu.h"

#include <pthread.h>

static CUcontext context;
static CUdeviceptr model;

NAMED void open_model(void)
{
    context = use_gpu(0);
    MUST(cuMemAlloc(&model, sizeof(int)));
    MUST(cuMemsetD32(model, 5, 1));
}

NAMED void *answer(void *argument)
{
    int *value = argument;
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemcpyDtoH(value, model, sizeof *value));
    MUST(cuCtxPopCurrent(NULL));
    return NULL;
}

int main(void)
{
    pthread_t worker;
    int value;
    open_model();
    pthread_create(&worker, NULL, answer, &value);
    pthread_join(worker, NULL);
    printf("the answer is %d\n", value);
    MUST(cuMemFree(model));
    leave_gpu(0);
    return 0;
}
