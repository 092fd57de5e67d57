/* SPDX-License-Identifier: MIT */
/*
 * Registered memory of the host is copied onto itself, and the host reads it: a plain copy waits.
 *
 * expect: nothing
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

int main(void)
{
    use_gpu(0);
    static int data[COUNT];
    void *more = new_pinned(BYTES);
    MUST(cuMemHostRegister(data, BYTES, 0));
    MUST(cuMemcpy((CUdeviceptr)data, (CUdeviceptr)data, BYTES));
    host_reads((CUdeviceptr)data);
    MUST(cuMemHostUnregister(data));
    MUST(cuMemFreeHost(more));
    return done();
}
