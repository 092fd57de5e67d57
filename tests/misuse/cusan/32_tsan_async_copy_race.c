/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes in one stream, and another stream copies what it writes. The host waits for the
 * copy only.
 *
 * expect: ORDER-KERNEL
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    CUstream one = new_stream(CU_STREAM_DEFAULT), other = new_stream(CU_STREAM_DEFAULT);
    CUdeviceptr data = new_device_memory();
    write_kernel(data, 1, one);
    fetch(data, other);
    return done();
}
