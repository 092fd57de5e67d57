/* SPDX-License-Identifier: MIT */
/*
 * Two kernels write in two streams. The host waits for the second one and reads what the first
 * wrote. A fill in the default stream lies between the kernels, but the first stream is a non-
 * blocking one.
 *
 * expect: ORDER-KERNEL
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    CUstream one = new_stream(CU_STREAM_NON_BLOCKING), other = new_stream(CU_STREAM_DEFAULT);
    CUdeviceptr data = new_managed_memory(), more = new_managed_memory();
    CUdeviceptr any = new_managed_memory();
    write_kernel(data, 1, one);
    MUST(cuMemsetD8(any, 0, 4));
    write_kernel(more, 1, other);
    MUST(cuStreamSynchronize(other));
    host_reads(data);
    return done();
}
