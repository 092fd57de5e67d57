/* SPDX-License-Identifier: MIT */
/* A block goes back to the pool that it came from; the pool alone is freed. */
#include "gpu.h"

enum { BLOCK = 4096, BLOCKS = 8 };

static CUdeviceptr pool, unused[BLOCKS];
static unsigned unused_count;

NAMED void make_pool(void)
{
    MUST(cuMemAlloc(&pool, BLOCK * BLOCKS));
    for (; unused_count < BLOCKS; unused_count++)
        unused[unused_count] = pool + unused_count * BLOCK;
}

NAMED CUdeviceptr take(void)
{
    return unused[--unused_count];
}

NAMED void give_back(CUdeviceptr block)
{
    unused[unused_count++] = block;
}

int main(void)
{
    use_gpu(0);
    make_pool();
    CUdeviceptr first = take(), second = take();
    MUST(cuMemsetD8(first, 1, BLOCK));
    MUST(cuMemsetD8(second, 2, BLOCK));
    give_back(second);
    give_back(first);
    MUST(cuMemFree(pool));
    leave_gpu(0);
    return 0;
}
