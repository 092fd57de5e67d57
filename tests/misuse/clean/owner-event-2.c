/* SPDX-License-Identifier: MIT */
/*
 * Two stages of a pipeline, each with a context of its own, have an event each.
 */
#include "misuse.h"

typedef struct stage {
    CUcontext context;
    CUdeviceptr buffer;
    CUevent done;
} stage;

static stage stages[2];

NAMED void open_pipeline(void)
{
    for (int i = 1; i >= 0; i--) {
        MUST(cuCtxCreate(&stages[i].context, 0, i));
        MUST(cuMemAlloc(&stages[i].buffer, 64));
        MUST(cuEventCreate(&stages[i].done, CU_EVENT_DISABLE_TIMING));
    }
}

NAMED int finish_stage(const stage *self)
{
    MUST(cuCtxPushCurrent(self->context));
    MUST(cuMemsetD8Async(self->buffer, 1, 64, NULL));
    CUresult result = cuEventRecord(self->done, NULL);
    if (result == CUDA_SUCCESS)
        result = cuEventSynchronize(self->done);
    MUST(cuCtxPopCurrent(NULL));
    return result == CUDA_SUCCESS;
}

int main(void)
{
    MUST(cuInit(0));
    open_pipeline();
    for (int i = 0; i < 2; i++)
        printf("stage %d: %s\n", i, finish_stage(&stages[i]) ? "done" : "lost");
    for (int i = 0; i < 2; i++)
        MUST(cuCtxDestroy(stages[i].context)); /* with its event and its memory */
    return 0;
}
