/* SPDX-License-Identifier: MIT */
/*
 * A program moves a buffer of one allocation into another with the copy for host memory: both are
 * of the device.
 *
 * expect: MEMORY-SIDE
 * at: move
 * origin: made take
 */
#include "gpu.h"

#include <stdint.h>

NAMED CUdeviceptr take(void)
{
    CUdeviceptr memory;
    MUST(cuMemAlloc(&memory, 64));
    return memory;
}

NAMED void move(CUdeviceptr to, CUdeviceptr from)
{
    MUST(cuMemcpyHtoD(to, (const void *)(uintptr_t)from, 64));
}

int main(void)
{
    use_gpu(0);
    CUdeviceptr from = take(), to = take();
    MUST(cuMemsetD8(from, 1, 64));
    move(to, from);
    MUST(cuMemFree(from));
    MUST(cuMemFree(to));
    leave_gpu(0);
    return 0;
}
