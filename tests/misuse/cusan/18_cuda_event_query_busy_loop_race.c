/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes in a stream. The host records an event behind it, and reads at once.
 *
 * expect: ORDER-KERNEL
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    CUstream one = new_stream(CU_STREAM_DEFAULT);
    CUevent end;
    CUdeviceptr data = new_managed_memory();
    MUST(cuEventCreate(&end, CU_EVENT_DEFAULT));
    write_kernel(data, 1, one);
    MUST(cuEventRecord(end, one));
    host_reads(data);
    return done();
}
