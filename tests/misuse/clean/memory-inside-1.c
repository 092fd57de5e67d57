/* SPDX-License-Identifier: MIT */
/* The program gives the block back to the pool, and frees only the whole pool. */
#include "gpu.h"

enum { BLOCK = 4096, BLOCKS = 8 };

static CUdeviceptr pool;
static size_t used;

NAMED void make_pool(void)
{
    MUST(cuMemAlloc(&pool, BLOCK * BLOCKS));
}

NAMED CUdeviceptr take(void)
{
    return pool + BLOCK * used++;
}

NAMED void give_back(CUdeviceptr block)
{
    used = (block - pool) / BLOCK; /* the last block that was taken comes back first */
}

int main(void)
{
    use_gpu(0);
    make_pool();
    CUdeviceptr first = take(), second = take();
    MUST(cuMemsetD8(first, 1, BLOCK));
    MUST(cuMemsetD8(second, 2, BLOCK));
    give_back(second);
    MUST(cuMemFree(pool));
    leave_gpu(0);
    return 0;
}
