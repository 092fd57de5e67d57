/* SPDX-License-Identifier: MIT */
/*
 * A cache takes its memory's handle once more while it is used, and releases it as often as it got
 * it; the memory goes with its mapping, and not with a context.
 */
#include "gpu.h"

enum { BYTES = 2 << 20 }; /* the granularity */

static const CUmemAllocationProp properties = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
static const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                       CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

NAMED CUmemGenericAllocationHandle map(CUdeviceptr address)
{
    CUmemGenericAllocationHandle handle;
    MUST(cuMemCreate(&handle, BYTES, &properties, 0));
    MUST(cuMemMap(address, BYTES, 0, handle, 0));
    MUST(cuMemSetAccess(address, BYTES, &access, 1));
    return handle;
}

NAMED void use(CUdeviceptr address)
{
    CUmemGenericAllocationHandle handle;
    MUST(cuMemRetainAllocationHandle(&handle, (void *)(size_t)address));
    MUST(cuMemsetD8(address, 0, BYTES));
    MUST(cuMemRelease(handle));
}

int main(void)
{
    CUdeviceptr cache;
    CUcontext own;
    use_gpu(0);
    MUST(cuMemAddressReserve(&cache, BYTES, 0, 0, 0));
    MUST(cuCtxCreate(&own, 0, 1));
    CUmemGenericAllocationHandle handle = map(cache);
    MUST(cuCtxDestroy(own)); /* the memory is none of this context */
    for (int i = 0; i < 3; i++)
        use(cache);
    MUST(cuMemRelease(handle));
    use(cache);
    MUST(cuMemUnmap(cache, BYTES));
    MUST(cuMemAddressFree(cache, BYTES));
    leave_gpu(0);
    return 0;
}
