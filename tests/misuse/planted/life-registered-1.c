/* SPDX-License-Identifier: MIT */
/*
 * A program registers a buffer for a fast copy, and frees the buffer while it is registered. The
 * pages stay pinned, and the next buffer at the same address cannot be registered.
 *
 * options: --leaks
 * expect: LIFE-REGISTERED
 * at: upload
 */
#include "misuse.h"

enum { BYTES = 8192 };

NAMED void upload(CUdeviceptr destination)
{
    void *data = aligned_alloc(4096, BYTES);
    if (data == NULL)
        abort();
    MUST(cuMemHostRegister(data, BYTES, 0));
    MUST(cuMemcpyHtoD(destination, data, BYTES));
    free(data);
}

int main(void)
{
    CUcontext context;
    CUdeviceptr destination;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuMemAlloc(&destination, BYTES));
    upload(destination);
    MUST(cuMemFree(destination));
    MUST(cuCtxDestroy(context));
    return 0;
}
