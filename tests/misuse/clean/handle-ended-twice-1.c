/* SPDX-License-Identifier: MIT */
/* The function that creates the event owns it, and destroys it when both queues are closed. */
#include "misuse.h"

typedef struct queue {
    CUstream stream;
    CUevent done;
} queue;

NAMED void open_queue(queue *self, CUevent done)
{
    MUST(cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING));
    self->done = done;
}

NAMED void close_queue(queue *self)
{
    MUST(cuStreamSynchronize(self->stream));
    MUST(cuStreamDestroy(self->stream));
}

int main(void)
{
    CUcontext context;
    CUevent done;
    queue queues[2];
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 2; i++)
        open_queue(&queues[i], done);
    MUST(cuEventRecord(done, queues[0].stream));
    MUST(cuStreamWaitEvent(queues[1].stream, done, 0));
    for (int i = 0; i < 2; i++)
        close_queue(&queues[i]);
    MUST(cuEventDestroy(done));
    MUST(cuCtxDestroy(context));
    return 0;
}
