/* SPDX-License-Identifier: MIT */
/*
 * A program opens the default pool of the first GPU, as it believes, to the second: the call
 * names the device that may reach the memory, and it names the owner. The second GPU is refused.
 *
 * expect: OWNER-POOL
 * at: fill
 * origin: made allocate
 * says: 64 bytes of stream-ordered memory belongs to the primary context of GPU 0
 * origin: pushed fill
 * says: current there: the primary context of GPU 1, pushed by owner-pool-2
 */
#include "misuse.h"

static CUcontext contexts[2];

NAMED void open_pool(CUdevice owner, CUdevice user)
{
    CUmemoryPool pool;
    CUmemAccessDesc access = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, owner},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    (void)user;
    MUST(cuDeviceGetDefaultMemPool(&pool, owner));
    MUST(cuMemPoolSetAccess(pool, &access, 1));
}

NAMED CUdeviceptr allocate(CUdevice device)
{
    CUdeviceptr pointer;
    MUST(cuCtxPushCurrent(contexts[device]));
    MUST(cuMemAllocAsync(&pointer, 64, NULL));
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
    return pointer;
}

NAMED void fill(CUdeviceptr pointer, CUdevice device)
{
    MUST(cuCtxPushCurrent(contexts[device]));
    puts(cuMemsetD32(pointer, 1, 16) == CUDA_SUCCESS ? "filled" : "not filled");
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
}

int main(void)
{
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
    open_pool(0, 1);
    CUdeviceptr pointer = allocate(0);
    fill(pointer, 1);
    MUST(cuMemFree(pointer));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
