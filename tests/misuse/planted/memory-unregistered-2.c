/* SPDX-License-Identifier: MIT */
/*
 * The program waits for an event that it recorded before the copy, not behind it, and then
 * unregisters the memory that the copy writes.
 *
 * expect: MEMORY-UNREGISTERED
 * at: finish
 * origin: first fetch
 * origin: made main
 * says: 65536 bytes of registered memory belongs to the primary context of GPU 0
 * says: cuMemcpyDtoHAsync_v2 in stream 1 of GPU 0 is pending
 * exit: 0
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

static unsigned char picture[BYTES];

NAMED void fetch(CUdeviceptr from, CUevent drawn, CUstream stream)
{
    MUST(cuMemsetD8Async(from, 9, BYTES, stream));
    MUST(cuEventRecord(drawn, stream));
    MUST(cuMemcpyDtoHAsync(picture, from, BYTES, stream));
}

NAMED void finish(CUevent drawn)
{
    MUST(cuEventSynchronize(drawn));
    MUST(cuMemHostUnregister(picture));
}

int main(void)
{
    CUdeviceptr canvas;
    CUstream stream;
    CUevent drawn;
    use_gpu(0);
    MUST(cuMemAlloc(&canvas, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&drawn, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemHostRegister(picture, BYTES, 0));
    fetch(canvas, drawn, stream);
    finish(drawn);
    MUST(cuEventDestroy(drawn));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(canvas));
    leave_gpu(0);
    return 0;
}
