/* SPDX-License-Identifier: MIT */
/*
 * A buffer is on the GPU or, where there is none, on the host. The program forgets to ask where it
 * is, and hands a pointer of malloc to cuMemFree.
 *
 * expect: MEMORY-HOST
 * at: drop_buffer
 * origin: argument -
 * says: no call allocated
 */
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
    (void)cuMemFree((CUdeviceptr)old.data);
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
