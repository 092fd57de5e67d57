/* SPDX-License-Identifier: MIT */
/*
 * An allocator maps memory for large requests, and frees all in the same way.
 *
 * expect: MEMORY-FOREIGN
 * at: give_back
 * origin: made allocate
 * says: 2097152 bytes of mapped memory
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

NAMED int give_back(CUdeviceptr memory)
{
    return cuMemFree(memory) == CUDA_SUCCESS;
}

int main(void)
{
    use_gpu(0);
    int freed = give_back(allocate(4096)) + give_back(allocate(BYTES));
    printf("%d of 2 were freed\n", freed);
    leave_gpu(0);
    return 0;
}
