/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes on one GPU, and another kernel on a second one. The host waits for both GPUs,
 * and reads what they wrote.
 *
 * expect: nothing
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    CUcontext first, second = use_gpu(1);
    CUdeviceptr more = new_managed_memory();
    first = use_gpu(0);
    CUdeviceptr data = new_managed_memory();
    write_kernel(data, 1, NULL);
    MUST(cuCtxSynchronize());
    MUST(cuCtxSetCurrent(second));
    write_kernel(more, 1, NULL);
    MUST(cuCtxSynchronize());
    host_reads(data);
    host_reads(more);
    MUST(cuCtxSetCurrent(first));
    return done();
}
