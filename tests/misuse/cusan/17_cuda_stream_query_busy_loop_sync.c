/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes in a stream. The host asks the stream until it is done, and reads.
 *
 * expect: nothing
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    CUstream one = new_stream(CU_STREAM_DEFAULT);
    CUdeviceptr data = new_managed_memory();
    write_kernel(data, 1, one);
    while (cuStreamQuery(one) != CUDA_SUCCESS)
        continue;
    host_reads(data);
    return done();
}
