/* SPDX-License-Identifier: MIT */
/*
 * A stream waits for a flag in memory that the host is to set, and the host waits for the stream
 * before it sets the flag.
 *
 * options: --timeout 2
 * expect: PROCESS-HANG
 * at: finish
 * origin: waits start
 * origin: launched submit
 * exit: 124
 */
#include "gpu.h"

NAMED CUstream start(void)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

NAMED void submit(CUstream stream, CUdeviceptr flag, CUdeviceptr data)
{
    MUST(cuStreamWaitValue32(stream, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    MUST(cuMemsetD8Async(data, 1, 64, stream));
}

NAMED void finish(CUstream stream, CUdeviceptr flag)
{
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemsetD32(flag, 1, 1));
}

int main(void)
{
    CUdeviceptr flag, data;
    use_gpu(0);
    CUstream stream = start();
    MUST(cuMemAlloc(&flag, 4));
    MUST(cuMemAlloc(&data, 64));
    MUST(cuMemsetD32(flag, 0, 1));
    submit(stream, flag, data);
    finish(stream, flag);
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(flag));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
