/* SPDX-License-Identifier: MIT */
/*
 * Two kernels write the same memory in two streams. An allocation of device memory lies between
 * them, which waits for nothing.
 *
 * expect: ORDER-KERNEL
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    CUstream one = new_stream(CU_STREAM_DEFAULT), other = new_stream(CU_STREAM_DEFAULT);
    CUdeviceptr data = new_device_memory(), more;
    write_kernel(data, 1, one);
    MUST(cuMemAlloc(&more, BYTES));
    write_kernel(data, 1001, other);
    fetch(data, other);
    return done();
}
