/* SPDX-License-Identifier: MIT */
/* The program destroys the pool when all that was allocated from it is free. */
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
    MUST(cuMemPoolDestroy(pool));
    MUST(cuCtxDestroy(context));
    return 0;
}
