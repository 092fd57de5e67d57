/* SPDX-License-Identifier: MIT */
/*
 * A program creates a pool, frees what it allocated from it, and leaves the pool. The pool keeps
 * the memory for later allocations, and nobody else can use it.
 *
 * options: --leaks
 * expect: LIFE-POOL
 * at: open_pool
 */
#include "misuse.h"

NAMED CUmemoryPool open_pool(CUdevice device)
{
    CUmemoryPool pool;
    CUmemPoolProps wanted = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                             .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    MUST(cuMemPoolCreate(&pool, &wanted));
    return pool;
}

int main(void)
{
    CUcontext context;
    CUdeviceptr memory;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    CUmemoryPool pool = open_pool(0);
    MUST(cuMemAllocFromPoolAsync(&memory, 4096, pool, NULL));
    MUST(cuMemsetD8Async(memory, 0, 4096, NULL));
    MUST(cuMemFreeAsync(memory, NULL));
    MUST(cuCtxSynchronize());
    MUST(cuCtxDestroy(context));
    return 0;
}
