/* SPDX-License-Identifier: MIT */
/*
 * A buffer shrinks while a part of the program still has its old end, and fills from there.
 *
 * expect: MEMORY-ENDED
 * at: fill
 * origin: made grow
 * origin: ended shrink
 * says: 2097152 bytes of mapped memory
 * says: 2097152 bytes of mapped memory was ended by cuMemUnmap
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

NAMED int fill(CUdeviceptr begin, size_t bytes)
{
    return cuMemsetD8(begin, 1, bytes) == CUDA_SUCCESS;
}

int main(void)
{
    CUdeviceptr buffer, second;
    use_gpu(0);
    MUST(cuMemAddressReserve(&buffer, 2 * BYTES, 0, 0, 0));
    second = buffer + BYTES;
    grow(buffer);
    grow(second);
    shrink(buffer + 2 * BYTES);
    puts(fill(second + 16, 16) ? "filled" : "not filled");
    MUST(cuMemUnmap(buffer, BYTES));
    MUST(cuMemAddressFree(buffer, 2 * BYTES));
    leave_gpu(0);
    return 0;
}
