/* SPDX-License-Identifier: MIT */
/*
 * A flag of the GPU is fetched into a local variable with an asynchronous copy. The stack is
 * pageable memory: each poll waits for the stream, and were it not so, the copy would write into a
 * frame that is gone.
 *
 * expect: MEMORY-PAGEABLE
 * at: poll_flag
 * origin: argument -
 * says: 4 bytes of host memory at
 * exit: 0
 * options: --notes
 */
#include "gpu.h"

NAMED int poll_flag(CUdeviceptr flag, CUstream stream)
{
    int value = 0;
    MUST(cuMemcpyAsync((CUdeviceptr)&value, flag, sizeof value, stream));
    return value;
}

int main(void)
{
    CUdeviceptr flag;
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&flag, sizeof(int)));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemsetD32Async(flag, 1, 1, stream));
    printf("the flag is %d\n", poll_flag(flag, stream));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(flag));
    leave_gpu(0);
    return 0;
}
