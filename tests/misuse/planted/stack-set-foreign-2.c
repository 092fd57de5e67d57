/* SPDX-License-Identifier: MIT */
/*
 * A library keeps the context that was current when it was opened, and "restores" it after each
 * of its calls. By then the caller may have pushed another one, which is replaced.
 *
 * module: yes
 * expect: STACK-SET-FOREIGN
 * at: library_fill
 * origin: pushed work_on
 * says: the primary context of GPU 1 was pushed by stack-set-foreign-2
 */
#include "misuse.h"

void library_open(CUcontext own);
void library_fill(CUdeviceptr pointer, size_t bytes);

#ifdef MODULE
static CUcontext own_context, before;

void library_open(CUcontext own)
{
    own_context = own;
    MUST(cuCtxGetCurrent(&before));
}

void library_fill(CUdeviceptr pointer, size_t bytes)
{
    MUST(cuCtxPushCurrent(own_context));
    MUST(cuMemsetD8(pointer, 0, bytes));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuCtxSetCurrent(before));
}
#else
NAMED void work_on(CUcontext context)
{
    CUdeviceptr buffer;
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemAlloc(&buffer, 64));
    library_fill(buffer, 64);
    MUST(cuMemFree(buffer));
    MUST(cuCtxPopCurrent(NULL));
}

int main(void)
{
    CUcontext first, second;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&first, 0));
    MUST(cuDevicePrimaryCtxRetain(&second, 1));
    MUST(cuCtxPushCurrent(first));
    library_open(second);
    work_on(second);
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(1));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
#endif
