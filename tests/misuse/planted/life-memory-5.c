/* SPDX-License-Identifier: MIT */
/*
 * A codec leaves its buffers to the last release of the primary context.
 *
 * options: --leaks
 * expect: LIFE-MEMORY
 * at: open_all
 * origin: made open_all
 * origin: ended leave_gpu
 * says: 8192 bytes of device memory
 * expect: LIFE-PINNED
 * at: open_all
 * origin: ended leave_gpu
 * says: 64 bytes of pinned memory
 */
#include "gpu.h"

static CUdeviceptr frame;
static void *header;

NAMED void open_all(void)
{
    MUST(cuMemAlloc(&frame, 8192));
    MUST(cuMemAllocHost(&header, 64));
}

NAMED void close_all(void)
{
    leave_gpu(0);
}

int main(void)
{
    use_gpu(0);
    open_all();
    close_all();
    return 0;
}
