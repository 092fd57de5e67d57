/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes in a non-blocking stream, the host waits for the default stream, which does not
 * wait for it, and reads.
 *
 * expect: ORDER-KERNEL
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    CUstream one = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr data = new_managed_memory();
    write_kernel(data, 1, one);
    MUST(cuStreamSynchronize(NULL));
    host_reads(data);
    return done();
}
