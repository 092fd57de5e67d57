/* SPDX-License-Identifier: MIT */
/*
 * An asynchronous copy from memory of malloc: the driver stages such memory, and the program,
 * which wanted to go on at once, waits.
 *
 * expect: MEMORY-PAGEABLE
 * at: upload
 * exit: 0
 * options: --notes
 */
#include "gpu.h"

#include <stdlib.h>

enum { BYTES = 1 << 16 };

NAMED void upload(CUdeviceptr to, const void *from, CUstream stream)
{
    MUST(cuMemcpyHtoDAsync(to, from, BYTES, stream));
}

int main(void)
{
    CUdeviceptr data;
    CUstream stream;
    use_gpu(0);
    void *values = calloc(1, BYTES);
    MUST(cuMemAlloc(&data, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    upload(data, values, stream);
    MUST(cuStreamSynchronize(stream));
    free(values);
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(data));
    leave_gpu(0);
    return 0;
}
