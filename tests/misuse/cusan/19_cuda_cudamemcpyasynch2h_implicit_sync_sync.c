/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes in one stream, and another stream copies what it writes. A plain copy within the
 * host lies between them: it is behind the kernel, and waits.
 *
 * expect: nothing
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    static int from, to;
    CUstream one = new_stream(CU_STREAM_DEFAULT), other = new_stream(CU_STREAM_DEFAULT);
    CUdeviceptr data = new_device_memory();
    write_kernel(data, 1, one);
    MUST(cuMemcpy((CUdeviceptr)&to, (CUdeviceptr)&from, sizeof to));
    fetch(data, other);
    return done();
}
