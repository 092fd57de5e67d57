/* SPDX-License-Identifier: MIT */
/*
 * An allocator maps memory for large requests, and knows by the size how to free.
 */
#include "gpu.h"

enum { BYTES = 2 << 20 }; /* the granularity */

static const CUmemAllocationProp properties = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
static const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                       CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

NAMED CUdeviceptr allocate(size_t bytes)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr memory;
    if (bytes < BYTES) {
        MUST(cuMemAlloc(&memory, bytes));
        return memory;
    }
    MUST(cuMemAddressReserve(&memory, BYTES, 0, 0, 0));
    MUST(cuMemCreate(&handle, BYTES, &properties, 0));
    MUST(cuMemMap(memory, BYTES, 0, handle, 0));
    MUST(cuMemSetAccess(memory, BYTES, &access, 1));
    MUST(cuMemRelease(handle));
    return memory;
}

NAMED void give_back(CUdeviceptr memory, size_t bytes)
{
    if (bytes < BYTES) {
        MUST(cuMemFree(memory));
    } else {
        MUST(cuMemUnmap(memory, BYTES));
        MUST(cuMemAddressFree(memory, BYTES));
    }
}

int main(void)
{
    use_gpu(0);
    give_back(allocate(4096), 4096);
    give_back(allocate(BYTES), BYTES);
    leave_gpu(0);
    return 0;
}
