/* SPDX-License-Identifier: MIT */
/*
 * A stream frees its scratch memory while another stream still copies from it. The next
 * cuMemAllocAsync may give the memory to somebody else during the copy.
 *
 * expect: ORDER-BEFORE-FREE
 * at: drop
 * origin: first copy_out
 * origin: second drop
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
    drop(scratch, one);
    if (cuCtxSynchronize() != CUDA_SUCCESS)
        fputs("the copy failed\n", stderr);
    leave_gpu(0);
    return 0;
}
