/* SPDX-License-Identifier: MIT */
/*
 * A program measures a fill with two events. The helper that makes events is for ordering streams
 * and makes them without timing, so the program prints a time that was never measured.
 *
 * options: --notes
 * expect: CALL-FAILED
 * at: measure
 * origin: made make_event
 * says: an event was created with CU_EVENT_DISABLE_TIMING
 */
#include "gpu.h"

NAMED CUevent make_event(void)
{
    CUevent event;
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

NAMED float measure(CUevent begin, CUevent end)
{
    float ms = -1;
    if (cuEventElapsedTime(&ms, begin, end) != CUDA_SUCCESS)
        puts("no time");
    return ms;
}

int main(void)
{
    CUdeviceptr memory;
    use_gpu(0);
    MUST(cuMemAlloc(&memory, 4096));
    CUevent begin = make_event(), end = make_event();
    MUST(cuEventRecord(begin, NULL));
    MUST(cuMemsetD8Async(memory, 1, 4096, NULL));
    MUST(cuEventRecord(end, NULL));
    MUST(cuEventSynchronize(end));
    puts(measure(begin, end) >= 0 ? "measured" : "not measured");
    MUST(cuEventDestroy(begin));
    MUST(cuEventDestroy(end));
    MUST(cuMemFree(memory));
    leave_gpu(0);
    return 0;
}
