/* SPDX-License-Identifier: MIT */
/*
 * A job that is cancelled destroys its stream, which is being captured. The next stream may get
 * the same handle, so that in the end nothing is left to be seen of it.
 *
 * expect: CAPTURE-LEFT
 * at: begin_batch
 * origin: made begin_batch
 * origin: ended cancel
 * says: cuStreamDestroy_v2 ended its stream
 * exit: 0
 */
#include "gpu.h"

NAMED CUstream begin_batch(CUdeviceptr batch)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(cuMemsetD8Async(batch, 0, 64, stream));
    return stream;
}

NAMED void cancel(CUstream stream)
{
    /* the capture is forgotten */
    MUST(cuStreamDestroy(stream));
}

int main(void)
{
    CUdeviceptr batch;
    use_gpu(0);
    MUST(cuMemAlloc(&batch, 64));
    for (int i = 0; i < 2; i++)
        cancel(begin_batch(batch));
    MUST(cuMemFree(batch));
    leave_gpu(0);
    return 0;
}
