/* SPDX-License-Identifier: MIT */
/*
 * A library retains the primary context in each call of its open function and releases it in each
 * call of its close function.
 *
 * module: yes
 */
#include "misuse.h"

void viewer_open(void);
void viewer_close(void);

#ifdef MODULE
void viewer_open(void)
{
    CUcontext context;
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
