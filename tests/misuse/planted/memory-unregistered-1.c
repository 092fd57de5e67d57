/* SPDX-License-Identifier: MIT */
/*
 * A function registers the memory of its caller for one copy, and unregisters it before the copy
 * is done. This works only as long as cuMemHostUnregister waits for the copy.
 *
 * expect: MEMORY-UNREGISTERED
 * at: send
 * origin: made send
 * origin: first send
 * exit: 0
 */
#include "gpu.h"

enum { COUNT = 1 << 14 };

NAMED void send(CUdeviceptr to, int *values, CUstream stream)
{
    MUST(cuMemHostRegister(values, COUNT * sizeof *values, 0));
    MUST(cuMemcpyHtoDAsync(to, values, COUNT * sizeof *values, stream));
    MUST(cuMemHostUnregister(values));
}

int main(void)
{
    static int values[COUNT];
    CUdeviceptr data;
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&data, sizeof values));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    send(data, values, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
