/* SPDX-License-Identifier: MIT */
/* The program unregisters the buffer before it frees it. */
#include "misuse.h"

enum { BYTES = 8192 };

NAMED void upload(CUdeviceptr destination)
{
    void *data = aligned_alloc(4096, BYTES);
    if (data == NULL)
        abort();
    MUST(cuMemHostRegister(data, BYTES, 0));
    MUST(cuMemcpyHtoD(destination, data, BYTES));
    MUST(cuMemHostUnregister(data));
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
