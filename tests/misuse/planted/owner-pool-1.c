/* SPDX-License-Identifier: MIT */
/*
 * A program allocates from a pool of GPU 1 for a stream of GPU 0. The allocation succeeds; the
 * first fill of the memory is refused.
 *
 * expect: OWNER-POOL
 * at: clear
 * origin: made take
 * origin: made open_pool
 */
#include "gpu.h"

enum { BYTES = 256 };

NAMED CUmemoryPool open_pool(CUdevice device)
{
    CUmemoryPool pool;
    CUmemPoolProps wanted = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                             .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    MUST(cuMemPoolCreate(&pool, &wanted));
    return pool;
}

NAMED CUdeviceptr take(CUmemoryPool pool, CUstream stream)
{
    CUdeviceptr pointer;
    MUST(cuMemAllocFromPoolAsync(&pointer, BYTES, pool, stream));
    return pointer;
}

NAMED void clear(CUdeviceptr pointer, CUstream stream)
{
    if (cuMemsetD8Async(pointer, 0, BYTES, stream) != CUDA_SUCCESS)
        fputs("the memory is as it was\n", stderr);
}

int main(void)
{
    CUstream stream;
    use_gpu(0);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUmemoryPool pool = open_pool(1);
    CUdeviceptr pointer = take(pool, stream);
    clear(pointer, stream);
    MUST(cuMemFreeAsync(pointer, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemPoolDestroy(pool));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
