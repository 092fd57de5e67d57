/* SPDX-License-Identifier: MIT */
/*
 * A program makes a pool for each device and makes it the current one. At its end it destroys the
 * contexts, to which pools do not belong.
 *
 * options: --leaks
 * expect: LIFE-POOL
 * at: use_own_pool
 * origin: made use_own_pool
 * says: memory pool 1 of GPU 0
 */
#include "misuse.h"

static CUcontext contexts[2];

NAMED void use_own_pool(CUdevice device)
{
    CUmemoryPool pool;
    CUmemPoolProps wanted = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                             .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    MUST(cuMemPoolCreate(&pool, &wanted));
    MUST(cuDeviceSetMemPool(device, pool));
}

NAMED void work(void)
{
    CUdeviceptr memory;
    MUST(cuMemAllocAsync(&memory, 4096, NULL));
    MUST(cuMemFreeAsync(memory, NULL));
    MUST(cuCtxSynchronize());
}

int main(void)
{
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++) {
        MUST(cuCtxCreate(&contexts[i], 0, i));
        use_own_pool(i);
        work();
    }
    for (int i = 2; i-- > 0;)
        MUST(cuCtxDestroy(contexts[i]));
    return 0;
}
