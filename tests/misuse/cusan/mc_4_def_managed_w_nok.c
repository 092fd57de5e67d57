/* SPDX-License-Identifier: MIT */
/*
 * A kernel writes in the default stream, and a copy within the device follows. That copy is behind
 * the kernel, but the host waits for neither, and reads.
 *
 * expect: ORDER-KERNEL
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    CUdeviceptr data = new_managed_memory(), more = new_device_memory();
    write_kernel(data, 1, NULL);
    MUST(cuMemcpyDtoD(more, more, 1));
    host_reads(data);
    return done();
}
