/* SPDX-License-Identifier: MIT */
/*
 * A library asks whether the device is active when it is opened, and sets flags only if it is
 * not.
 *
 * module: yes
 */
#include "misuse.h"

void video_open(void);
void video_close(void);

#ifdef MODULE
void video_open(void)
{
    CUcontext context;
    unsigned int flags;
    int active;
    MUST(cuDevicePrimaryCtxGetState(0, &flags, &active));
    if (!active)
        MUST(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_SPIN));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
}

void video_close(void)
{
    MUST(cuDevicePrimaryCtxRelease(0));
}
#else
NAMED void begin(void)
{
    CUcontext context;
    MUST(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
}

int main(void)
{
    unsigned int flags;
    int active;
    MUST(cuInit(0));
    begin();
    video_open();
    MUST(cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("threads %s\n", flags & CU_CTX_SCHED_BLOCKING_SYNC ? "sleep" : "spin");
    video_close();
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
#endif
