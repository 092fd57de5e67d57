/* SPDX-License-Identifier: MIT */
/*
 * The stream that uses the memory last also frees it.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

NAMED void copy_out(void *to, CUdeviceptr scratch, CUstream stream)
{
    MUST(cuMemcpyDtoHAsync(to, scratch, BYTES, stream));
}

NAMED void drop(CUdeviceptr scratch, CUstream stream)
{
    MUST(cuMemFreeAsync(scratch, stream));
}

int main(void)
{
    CUdeviceptr scratch;
    CUstream one, other;
    void *result;
    use_gpu(0);
    MUST(cuMemAllocHost(&result, BYTES));
    MUST(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAllocAsync(&scratch, BYTES, one));
    MUST(cuMemsetD8Async(scratch, 1, BYTES, one));
    MUST(cuStreamSynchronize(one));
    copy_out(result, scratch, other);
    drop(scratch, other);
    if (cuCtxSynchronize() != CUDA_SUCCESS)
        fputs("the copy failed\n", stderr);
    MUST(cuMemFreeHost(result));
    MUST(cuStreamDestroy(other));
    MUST(cuStreamDestroy(one));
    leave_gpu(0);
    return 0;
}
