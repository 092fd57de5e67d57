/* SPDX-License-Identifier: MIT */
/* A buffer remembers where it is, and is freed by the counterpart of its allocation. */
#include "gpu.h"

#include <stdlib.h>

typedef struct buffer {
    int on_gpu;
    void *data;
} buffer;

NAMED buffer make_buffer(int on_gpu, size_t bytes)
{
    CUdeviceptr memory;
    if (!on_gpu)
        return (buffer){0, calloc(1, bytes)};
    MUST(cuMemAlloc(&memory, bytes));
    return (buffer){1, (void *)memory};
}

NAMED void drop_buffer(buffer old)
{
    if (old.on_gpu)
        MUST(cuMemFree((CUdeviceptr)old.data));
    else
        free(old.data);
}

int main(void)
{
    use_gpu(0);
    buffer fast = make_buffer(1, 4096), slow = make_buffer(0, 4096);
    drop_buffer(fast);
    drop_buffer(slow);
    leave_gpu(0);
    return 0;
}
