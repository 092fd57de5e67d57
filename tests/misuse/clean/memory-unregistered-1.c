/* SPDX-License-Identifier: MIT */
/* The memory is registered once, for as long as copies use it. */
#include "gpu.h"

enum { COUNT = 1 << 14 };

NAMED void send(CUdeviceptr to, const int *values, CUstream stream)
{
    MUST(cuMemcpyHtoDAsync(to, values, COUNT * sizeof *values, stream));
}

int main(void)
{
    static int values[COUNT];
    CUdeviceptr data;
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&data, sizeof values));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemHostRegister(values, sizeof values, 0));
    send(data, values, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemHostUnregister(values));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
