/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes in the default stream, and a copy within the host follows in a stream that waits
 * for the default one. The call waits for its copy, and by that for the kernel.
 *
 * expect: nothing
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    static int from, to;
    CUstream one = new_stream(CU_STREAM_DEFAULT);
    CUdeviceptr data = new_managed_memory();
    write_kernel(data, 1, NULL);
    MUST(cuMemcpyAsync((CUdeviceptr)&to, (CUdeviceptr)&from, sizeof to, one));
    host_reads(data);
    return done();
}
