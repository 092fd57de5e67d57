/* SPDX-License-Identifier: MIT */
/*
 * A part of the program retains the primary context, and releases it once, while the others go on.
 */
#include "gpu.h"

NAMED void measure(void)
{
    CUcontext context;
    size_t free_bytes, bytes;
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuMemGetInfo(&free_bytes, &bytes));
    MUST(cuDevicePrimaryCtxRelease(0));
}

NAMED void begin(CUstream *out_stream, CUevent *out_event, CUdeviceptr *out_memory)
{
    MUST(cuStreamCreate(out_stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(out_event, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemAlloc(out_memory, 4096));
}

NAMED void work(CUstream stream, CUevent event, CUdeviceptr memory)
{
    (void)cuMemsetD8Async(memory, 0, 4096, stream);
    (void)cuEventRecord(event, stream);
    (void)cuStreamSynchronize(stream);
    (void)cuCtxSynchronize();
}

NAMED void end(CUstream stream, CUevent event, CUdeviceptr memory)
{
    (void)cuMemFree(memory);
    (void)cuEventDestroy(event);
    (void)cuStreamDestroy(stream);
    (void)cuCtxSetCurrent(NULL);
    (void)cuDevicePrimaryCtxRelease(0);
}

int main(void)
{
    CUstream stream;
    CUevent event;
    CUdeviceptr memory;
    use_gpu(0);
    begin(&stream, &event, &memory);
    measure();
    work(stream, event, memory);
    end(stream, event, memory);
    return 0;
}
