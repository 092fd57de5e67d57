/* SPDX-License-Identifier: MIT */
/*
 * A kernel in a stream, one in the default stream, one in another stream: each is behind the one
 * before it. The host waits for none, and reads what the first wrote.
 *
 * expect: ORDER-KERNEL
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    CUstream one = new_stream(CU_STREAM_DEFAULT), other = new_stream(CU_STREAM_DEFAULT);
    CUdeviceptr data = new_managed_memory(), more = new_device_memory();
    write_kernel(data, 1, one);
    write_kernel(more, 1, NULL);
    write_kernel(more, 1001, other);
    host_reads(data);
    return done();
}
