/* SPDX-License-Identifier: MIT */
/*
 * Two streams add to the same numbers. An event lies behind the first kernel, and the host does
 * not wait for it.
 *
 * expect: ORDER-KERNEL
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    CUstream one = new_stream(CU_STREAM_DEFAULT), other = new_stream(CU_STREAM_DEFAULT);
    CUevent first;
    CUdeviceptr data = new_device_memory();
    CUfunction add = kernel_of(cusan_ptx, "add");
    MUST(cuEventCreate(&first, CU_EVENT_DEFAULT));
    run(add, (void *[]){&data}, one);
    MUST(cuEventRecord(first, one));
    run(add, (void *[]){&data}, other);
    return done();
}
