/* SPDX-License-Identifier: MIT */
/*
 * The program waits for the stream that the total comes in before it passes the total on.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

static int total;

NAMED void fetch(CUdeviceptr sum, CUstream stream)
{
    MUST(cuMemsetD32Async(sum, 10, 1, stream));
    MUST(cuMemcpyDtoHAsync(&total, sum, sizeof total, stream));
}

NAMED void pass_on(CUdeviceptr to)
{
    MUST(cuMemcpyHtoD(to, &total, sizeof total));
}

int main(void)
{
    CUdeviceptr sum, copy;
    CUstream adding;
    use_gpu(0);
    MUST(cuMemHostRegister(&total, sizeof total, 0));
    MUST(cuMemAlloc(&sum, sizeof total));
    MUST(cuMemAlloc(&copy, sizeof total));
    MUST(cuStreamCreate(&adding, CU_STREAM_NON_BLOCKING));
    fetch(sum, adding);
    MUST(cuStreamSynchronize(adding));
    pass_on(copy);
    MUST(cuCtxSynchronize());
    MUST(cuStreamDestroy(adding));
    MUST(cuMemFree(sum));
    MUST(cuMemFree(copy));
    MUST(cuMemHostUnregister(&total));
    leave_gpu(0);
    return 0;
}
