/* SPDX-License-Identifier: MIT */
/*
 * A program takes memory for a stream of the first GPU from a pool of the same GPU.
 */
#include "misuse.h"

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
    puts(cuMemsetD8Async(pointer, 0, BYTES, stream) == CUDA_SUCCESS ? "clear" : "as it was");
}

int main(void)
{
    CUcontext context;
    CUstream stream;
    MUST(cuInit(0));
    CUmemoryPool pool = open_pool(0);
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUdeviceptr pointer = take(pool, stream);
    clear(pointer, stream);
    MUST(cuMemFreeAsync(pointer, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemPoolDestroy(pool));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
