/* SPDX-License-Identifier: MIT */
/*
 * A library retains the primary context once and releases it in each call of its close function,
 * of which there are two. The second one ends the context of the program, whose own release then
 * fails.
 *
 * module: yes
 * expect: PRIMARY-RELEASED
 * at: end
 * origin: made begin
 * origin: ended viewer_close
 * says: the primary context of GPU 0
 * says: the primary context of GPU 0 was ended by cuDevicePrimaryCtxRelease_v2
 */
#include "misuse.h"

void viewer_open(void);
void viewer_close(void);

#ifdef MODULE
void viewer_open(void)
{
    static CUcontext context;
    if (context == NULL)
        MUST(cuDevicePrimaryCtxRetain(&context, 0));
}

void viewer_close(void)
{
    MUST(cuDevicePrimaryCtxRelease(0));
}
#else
NAMED void begin(void)
{
    CUcontext context;
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
}

NAMED void end(void)
{
    if (cuDevicePrimaryCtxRelease(0) != CUDA_SUCCESS)
        fputs("the context is gone already\n", stderr);
}

int main(void)
{
    MUST(cuInit(0));
    begin();
    for (int i = 0; i < 2; i++)
        viewer_open();
    for (int i = 0; i < 2; i++)
        viewer_close();
    end();
    return 0;
}
#endif
