/* SPDX-License-Identifier: MIT */
/*
 * The side stream is joined again, and then gets one more copy: a new end that nothing waits for.
 *
 * expect: CAPTURE-UNJOINED
 * at: capture
 * origin: begun capture
 * says: the capture began in stream 1 of GPU 0
 * origin: joined wait_for
 * says: stream 2 of GPU 0 joined it, and nothing waits for its last work
 */
#include "gpu.h"

enum { BYTES = 64 };

typedef struct work {
    CUstream stream, side;
    CUevent event;
    CUdeviceptr input, output, log;
} work;

NAMED void wait_for(CUstream later, CUstream earlier, CUevent event)
{
    MUST(cuEventRecord(event, earlier));
    MUST(cuStreamWaitEvent(later, event, 0));
}

NAMED void capture(const work *self)
{
    CUgraph graph;
    MUST(cuStreamBeginCapture(self->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    wait_for(self->side, self->stream, self->event);
    MUST(cuMemcpyDtoDAsync(self->output, self->input, BYTES, self->side));
    wait_for(self->stream, self->side, self->event);
    MUST(cuMemcpyDtoDAsync(self->log, self->output, BYTES, self->side));
    (void)cuStreamEndCapture(self->stream, &graph);
}

int main(void)
{
    work self;
    use_gpu(0);
    MUST(cuMemAlloc(&self.input, 3 * BYTES));
    self.output = self.input + BYTES;
    self.log = self.output + BYTES;
    MUST(cuStreamCreate(&self.stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&self.side, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&self.event, CU_EVENT_DISABLE_TIMING));
    capture(&self);
    MUST(cuEventDestroy(self.event));
    MUST(cuStreamDestroy(self.side));
    MUST(cuStreamDestroy(self.stream));
    MUST(cuMemFree(self.input));
    leave_gpu(0);
    return 0;
}
