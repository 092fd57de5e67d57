/* SPDX-License-Identifier: MIT */
/*
 * A codec frees its buffers before it releases the primary context.
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
    MUST(cuMemFreeHost(header));
    MUST(cuMemFree(frame));
    leave_gpu(0);
}

int main(void)
{
    use_gpu(0);
    open_all();
    close_all();
    return 0;
}
