/* SPDX-License-Identifier: MIT */
/*
 * A cache shows its memory at an address of its own, and releases the handle. Its clean-up does
 * so once more and means the memory, which the mapping holds.
 *
 * expect: LIFE-MEMORY
 * at: map
 * origin: made map
 * says: 2097152 bytes of mapped memory
 * options: --leaks
 */
#include "gpu.h"

enum { BYTES = 2 << 20 }; /* the granularity */

static const CUmemAllocationProp properties = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
static const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                       CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

NAMED void map(CUdeviceptr address)
{
    CUmemGenericAllocationHandle handle;
    MUST(cuMemCreate(&handle, BYTES, &properties, 0));
    MUST(cuMemMap(address, BYTES, 0, handle, 0));
    MUST(cuMemSetAccess(address, BYTES, &access, 1));
    MUST(cuMemRelease(handle));
}

NAMED void clean_up(CUdeviceptr address)
{
    CUmemGenericAllocationHandle handle;
    MUST(cuMemRetainAllocationHandle(&handle, (void *)(size_t)address));
    MUST(cuMemRelease(handle));
}

int main(void)
{
    CUdeviceptr cache;
    use_gpu(0);
    MUST(cuMemAddressReserve(&cache, BYTES, 0, 0, 0));
    map(cache);
    MUST(cuMemsetD8(cache, 0, BYTES));
    clean_up(cache);
    leave_gpu(0);
    return 0;
}
