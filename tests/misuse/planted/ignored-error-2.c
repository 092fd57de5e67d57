/* SPDX-License-Identifier: MIT */
/*
 * A program registers a buffer to make its copies fast. The call fails since a part of the buffer
 * is registered already, nobody looks, and the copies are made by pieces.
 *
 * options: --notes
 * expect: IGNORED-ERROR
 * at: upload
 * origin: next upload
 * says: cuMemcpyHtoD_v2 follows in the same function, whatever cuMemHostRegister_v2 gave
 */
#include "misuse.h"

enum { BYTES = 8192 };
static _Alignas(4096) char data[BYTES];

NAMED void upload(CUdeviceptr destination)
{
    cuMemHostRegister(data, BYTES, 0);
    MUST(cuMemcpyHtoD(destination, data, BYTES));
}

int main(void)
{
    CUcontext context;
    CUdeviceptr destination;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuMemAlloc(&destination, BYTES));
    MUST(cuMemHostRegister(data, 4096, 0)); /* the header, for another part of the program */
    upload(destination);
    MUST(cuMemHostUnregister(data));
    MUST(cuMemFree(destination));
    MUST(cuCtxDestroy(context));
    return 0;
}
