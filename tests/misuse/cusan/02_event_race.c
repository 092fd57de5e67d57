/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes in the default stream, and an event is recorded behind it. The host does not
 * wait for it, and reads.
 *
 * expect: ORDER-KERNEL
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    CUevent end;
    CUdeviceptr data = new_managed_memory();
    MUST(cuEventCreate(&end, CU_EVENT_DEFAULT));
    write_kernel(data, 1, NULL);
    MUST(cuEventRecord(end, NULL));
    host_reads(data);
    return done();
}
