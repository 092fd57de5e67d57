/* SPDX-License-Identifier: MIT */
/*
 * A pool cuts one allocation into blocks. The program gives a block back with cuMemFree, which
 * knows only the whole allocation: the call fails, and the pool never uses the block again.
 *
 * expect: MEMORY-INSIDE
 * at: give_back
 * origin: made make_pool
 */
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
    if (cuMemFree(block) != CUDA_SUCCESS)
        fputs("the block was not given back\n", stderr);
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
