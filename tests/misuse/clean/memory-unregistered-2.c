/* SPDX-License-Identifier: MIT */
/* The event is recorded behind the copy: who has waited for it may unregister the memory. */
#include "gpu.h"

enum { BYTES = 1 << 16 };

static unsigned char picture[BYTES];

NAMED void fetch(CUdeviceptr from, CUevent copied, CUstream stream)
{
    MUST(cuMemsetD8Async(from, 9, BYTES, stream));
    MUST(cuMemcpyDtoHAsync(picture, from, BYTES, stream));
    MUST(cuEventRecord(copied, stream));
}

NAMED void finish(CUevent copied)
{
    MUST(cuEventSynchronize(copied));
    MUST(cuMemHostUnregister(picture));
}

int main(void)
{
    CUdeviceptr canvas;
    CUstream stream;
    CUevent copied;
    use_gpu(0);
    MUST(cuMemAlloc(&canvas, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&copied, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemHostRegister(picture, BYTES, 0));
    fetch(canvas, copied, stream);
    finish(copied);
    MUST(cuEventDestroy(copied));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(canvas));
    leave_gpu(0);
    return 0;
}
