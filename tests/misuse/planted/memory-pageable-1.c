/* SPDX-License-Identifier: MIT */
/*
 * A program starts an asynchronous copy from memory that malloc gave. The driver stages such
 * memory through a buffer of its own, and the call waits, although the program wanted to go on at
 * once.
 *
 * expect: MEMORY-PAGEABLE
 * at: upload
 * exit: 0
 * options: --notes
 */
#include "gpu.h"

#include <string.h>

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
    void *values = malloc(BYTES);
    memset(values, 1, BYTES);
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
