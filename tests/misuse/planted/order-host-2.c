/* SPDX-License-Identifier: MIT */
/*
 * A total comes back from the GPU into registered memory, and is passed on with a plain copy. The
 * program has waited, but for the other stream: what it passes on may be the old total.
 *
 * expect: ORDER-HOST
 * at: pass_on
 * origin: first fetch
 * origin: second pass_on
 * says: cuMemcpyDtoHAsync_v2 in stream 1
 * says: cuMemcpyHtoD_v2 in the legacy stream
 * origin: made main
 * says: bytes 0 to 3 of 4 bytes of registered memory
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
    CUstream adding, other;
    use_gpu(0);
    MUST(cuMemHostRegister(&total, sizeof total, 0));
    MUST(cuMemAlloc(&sum, sizeof total));
    MUST(cuMemAlloc(&copy, sizeof total));
    MUST(cuStreamCreate(&adding, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    fetch(sum, adding);
    MUST(cuStreamSynchronize(other));
    pass_on(copy);
    MUST(cuCtxSynchronize());
    MUST(cuStreamDestroy(adding));
    MUST(cuStreamDestroy(other));
    MUST(cuMemFree(sum));
    MUST(cuMemFree(copy));
    MUST(cuMemHostUnregister(&total));
    leave_gpu(0);
    return 0;
}
