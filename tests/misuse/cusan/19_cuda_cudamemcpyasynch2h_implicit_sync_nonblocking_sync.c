/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes in one stream, and another stream copies what it writes. The streams are non-
 * blocking ones, and the host waits for the first.
 *
 * expect: nothing
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    static int from, to;
    CUstream one = new_stream(CU_STREAM_NON_BLOCKING), other = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr data = new_device_memory();
    write_kernel(data, 1, one);
    MUST(cuMemcpy((CUdeviceptr)&to, (CUdeviceptr)&from, sizeof to));
    MUST(cuStreamSynchronize(one));
    fetch(data, other);
    return done();
}
