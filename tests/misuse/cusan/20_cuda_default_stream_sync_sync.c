/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes in a stream, and another kernel follows in the default stream. The host waits
 * for the default stream, and reads what the first kernel wrote.
 *
 * expect: nothing
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    CUstream one = new_stream(CU_STREAM_DEFAULT);
    CUdeviceptr data = new_managed_memory(), more = new_device_memory();
    write_kernel(data, 1, one);
    write_kernel(more, 1, NULL);
    MUST(cuStreamSynchronize(NULL));
    host_reads(data);
    return done();
}
