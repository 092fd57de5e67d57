/* SPDX-License-Identifier: MIT */
/*
 * A buffer shrinks, grows again, and is filled by another stream after each: memory at the same
 * address, but not the same memory.
 */
#include "gpu.h"

enum { BYTES = 2 << 20 }; /* the granularity */

static const CUmemAllocationProp properties = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
static const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                       CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

NAMED void grow(CUdeviceptr end)
{
    CUmemGenericAllocationHandle handle;
    MUST(cuMemCreate(&handle, BYTES, &properties, 0));
    MUST(cuMemMap(end, BYTES, 0, handle, 0));
    MUST(cuMemSetAccess(end, BYTES, &access, 1));
    MUST(cuMemRelease(handle));
}

NAMED void shrink(CUdeviceptr end)
{
    MUST(cuMemUnmap(end - BYTES, BYTES));
}

NAMED void fill(CUdeviceptr begin, size_t bytes, CUstream stream)
{
    MUST(cuMemsetD8Async(begin, 1, bytes, stream));
}

int main(void)
{
    CUdeviceptr buffer;
    CUstream streams[2];
    use_gpu(0);
    MUST(cuMemAddressReserve(&buffer, 2 * BYTES, 0, 0, 0));
    grow(buffer);
    for (int i = 0; i < 2; i++) {
        MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        grow(buffer + BYTES);
        fill(buffer + BYTES, BYTES, streams[i]);
        shrink(buffer + 2 * BYTES); /* waits for the fill */
    }
    for (int i = 0; i < 2; i++)
        MUST(cuStreamDestroy(streams[i]));
    MUST(cuMemUnmap(buffer, BYTES));
    MUST(cuMemAddressFree(buffer, 2 * BYTES));
    leave_gpu(0);
    return 0;
}
