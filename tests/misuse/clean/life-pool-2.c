/* SPDX-License-Identifier: MIT */
/*
 * A program destroys the pools that it made, by which the default pool of each device is current
 * again.
 */
#include "misuse.h"

static CUcontext contexts[2];
static CUmemoryPool pools[2];

NAMED void use_own_pool(CUdevice device)
{
    CUmemPoolProps wanted = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                             .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    MUST(cuMemPoolCreate(&pools[device], &wanted));
    MUST(cuDeviceSetMemPool(device, pools[device]));
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
    for (int i = 2; i-- > 0;) {
        MUST(cuMemPoolDestroy(pools[i]));
        MUST(cuCtxDestroy(contexts[i]));
    }
    return 0;
}
