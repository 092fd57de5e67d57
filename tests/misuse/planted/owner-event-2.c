/* SPDX-License-Identifier: MIT */
/*
 * Two stages of a pipeline, each with a context of its own, hand over work by one event that both
 * record. Only the first stage owns it: the second one cannot tell when it is done.
 *
 * expect: OWNER-EVENT
 * at: finish_stage
 * origin: made open_pipeline
 * origin: pushed finish_stage
 * says: event 1 of GPU 0 belongs to context 2 of GPU 0
 * says: current there: context 1 of GPU 1, pushed by owner-event-2
 */
#include "misuse.h"

typedef struct stage {
    CUcontext context;
    CUdeviceptr buffer;
} stage;

static stage stages[2];
static CUevent done;

NAMED void open_pipeline(void)
{
    for (int i = 1; i >= 0; i--) {
        MUST(cuCtxCreate(&stages[i].context, 0, i));
        MUST(cuMemAlloc(&stages[i].buffer, 64));
    }
    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
}

NAMED int finish_stage(const stage *self)
{
    MUST(cuCtxPushCurrent(self->context));
    MUST(cuMemsetD8Async(self->buffer, 1, 64, NULL));
    CUresult result = cuEventRecord(done, NULL);
    if (result == CUDA_SUCCESS)
        result = cuEventSynchronize(done);
    MUST(cuCtxPopCurrent(NULL));
    return result == CUDA_SUCCESS;
}

int main(void)
{
    MUST(cuInit(0));
    open_pipeline();
    for (int i = 0; i < 2; i++)
        printf("stage %d: %s\n", i, finish_stage(&stages[i]) ? "done" : "lost");
    MUST(cuEventDestroy(done));
    for (int i = 0; i < 2; i++)
        MUST(cuCtxDestroy(stages[i].context));
    return 0;
}
