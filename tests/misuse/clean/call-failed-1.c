/* SPDX-License-Identifier: MIT */
/*
 * A program measures a fill with two events that have timing.
 */
#include "gpu.h"

NAMED CUevent make_event(void)
{
    CUevent event;
    MUST(cuEventCreate(&event, CU_EVENT_DEFAULT));
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
