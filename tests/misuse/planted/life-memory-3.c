/* SPDX-License-Identifier: MIT */
/*
 * A growing buffer maps memory at reserved addresses, and unmaps and frees all addresses in the
 * end. It forgets that the memory has a handle too, which holds it until it is released.
 *
 * expect: LIFE-MEMORY
 * at: create
 * origin: made create
 * says: 2097152 bytes of created memory
 * options: --leaks
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
    MUST(cuMemMap(end, BYTES, 0, create(), 0));
    MUST(cuMemSetAccess(end, BYTES, &access, 1));
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
