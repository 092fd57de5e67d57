/* SPDX-License-Identifier: MIT */
/*
 * A growing buffer releases the handle of its memory as soon as it is mapped: the mapping holds
 * the memory until it is unmapped.
 */
#include "gpu.h"

enum { BYTES = 2 << 20 }; /* the granularity */

static const CUmemAllocationProp properties = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
static const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                       CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

NAMED CUmemGenericAllocationHandle create(void)
{
    CUmemGenericAllocationHandle handle;
    MUST(cuMemCreate(&handle, BYTES, &properties, 0));
    return handle;
}

NAMED void grow(CUdeviceptr end)
{
    CUmemGenericAllocationHandle handle = create();
    MUST(cuMemMap(end, BYTES, 0, handle, 0));
    MUST(cuMemSetAccess(end, BYTES, &access, 1));
    MUST(cuMemRelease(handle));
}

int main(void)
{
    CUdeviceptr buffer;
    use_gpu(0);
    MUST(cuMemAddressReserve(&buffer, 2 * BYTES, 0, 0, 0));
    for (int i = 0; i < 2; i++)
        grow(buffer + (CUdeviceptr)i * BYTES);
    MUST(cuMemsetD8(buffer, 1, 2 * BYTES)); /* over both mappings */
    MUST(cuMemUnmap(buffer, 2 * BYTES));
    MUST(cuMemAddressFree(buffer, 2 * BYTES));
    leave_gpu(0);
    return 0;
}
