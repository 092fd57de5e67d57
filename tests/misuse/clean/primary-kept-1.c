/* SPDX-License-Identifier: MIT */
/*
 * The library releases the context when it ends.
 *
 * module: yes
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
    MUST(cuDevicePrimaryCtxRelease(0));
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
