/* SPDX-License-Identifier: MIT */
/*
 * A program has its threads sleep while they wait. A library sets the flags of the device when it
 * is opened, to spin: the threads of the program burn a processor from then on.
 *
 * module: yes
 * expect: PRIMARY-FLAGS
 * at: video_open
 * origin: made begin
 * says: the primary context of GPU 0
 * origin: argument -
 * says: it has the flags
 */
#include "misuse.h"

void video_open(void);
void video_close(void);

#ifdef MODULE
void video_open(void)
{
    CUcontext context;
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
