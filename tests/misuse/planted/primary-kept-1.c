/* SPDX-License-Identifier: MIT */
/*
 * A runtime that compiles kernels retains the primary context of device 0 when it starts and
 * never releases it. Its user cannot end the context any more, nor get back the memory that it
 * takes.
 *
 * module: yes
 * options: --leaks
 * expect: PRIMARY-KEPT
 * at: jit_start
 * origin: made jit_start
 */
#include "misuse.h"

void jit_start(void);
void jit_end(void);

#ifdef MODULE
static CUcontext context;

void jit_start(void)
{
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
}

void jit_end(void)
{
    context = NULL;
}
#else
NAMED void work(void)
{
    CUcontext context;
    CUdeviceptr buffer;
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemAlloc(&buffer, 4096));
    MUST(cuMemFree(buffer));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
}

int main(void)
{
    unsigned int flags;
    int active;
    MUST(cuInit(0));
    jit_start();
    work();
    jit_end();
    MUST(cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("device 0 is %s\n", active ? "still active" : "free");
    return 0;
}
#endif
