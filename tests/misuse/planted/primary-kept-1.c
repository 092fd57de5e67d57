/* SPDX-License-Identifier: MIT */
/*
 * A library that compiles kernels retains the primary context of device 0 when it starts, and
 * never releases it. The program has released the context, but it stays active, with its memory.
 *
 * module: yes
 * options: --leaks
 * expect: PRIMARY-KEPT
 * at: jit_start
 * origin: made jit_start
 */
#include "gpu.h"

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
int main(void)
{
    unsigned int flags;
    int active;
    use_gpu(0);
    jit_start();
    jit_end();
    leave_gpu(0);
    MUST(cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("device 0 is %s\n", active ? "still active" : "free");
    return 0;
}
#endif
