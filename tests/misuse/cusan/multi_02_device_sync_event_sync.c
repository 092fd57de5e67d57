/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes on one GPU, and an event lies behind it. With another GPU current the host waits
 * for the event, and reads.
 *
 * expect: nothing
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    CUcontext first = use_gpu(0), second = use_gpu(1);
    CUevent end;
    MUST(cuCtxSetCurrent(first));
    CUdeviceptr data = new_managed_memory();
    MUST(cuEventCreate(&end, CU_EVENT_DEFAULT));
    write_kernel(data, 1, NULL);
    MUST(cuEventRecord(end, NULL));
    MUST(cuCtxSetCurrent(second));
    MUST(cuEventSynchronize(end));
    host_reads(data);
    MUST(cuCtxSetCurrent(first));
    return done();
}
