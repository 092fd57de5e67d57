/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes, and a kernel of another stream reads. An event lies behind the first, and the
 * other stream does not wait for it.
 *
 * expect: ORDER-KERNEL
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    CUstream one = new_stream(CU_STREAM_DEFAULT), other = new_stream(CU_STREAM_DEFAULT);
    static int host[COUNT];
    CUevent first;
    CUdeviceptr data = new_device_memory(), result = new_device_memory();
    CUfunction copy = kernel_of(cusan_ptx, "copy");
    MUST(cuEventCreate(&first, CU_EVENT_DEFAULT));
    write_kernel(data, 1, one);
    MUST(cuEventRecord(first, one));
    run(copy, (void *[]){&result, &data}, other);
    MUST(cuMemcpyDtoH(host, data, BYTES));
    MUST(cuStreamSynchronize(other));
    return done();
}
