/* SPDX-License-Identifier: MIT */
/*
 * A compiler of pipelines makes a context for its first run and keeps it for the next ones, with
 * the kernels and the result. It cannot know which run is the last: the program has to say so, and
 * does not.
 *
 * module: yes
 * options: --leaks
 * expect: LIFE-CONTEXT
 * at: start
 * origin: made start
 * says: context 1 of GPU 0
 * expect: LIFE-MODULE
 * at: start
 * origin: made start
 * says: module 1 of GPU 0
 * expect: LIFE-MEMORY
 * at: start
 * origin: made start
 * says: 4096 bytes of device memory
 */
#include "misuse.h"

void pipeline_run(int step);
void pipeline_release(void);

#ifdef MODULE
static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry step()\n{\n    ret;\n}\n";
static CUcontext context;
static CUmodule module;
static CUfunction kernel;
static CUdeviceptr result;

NAMED void start(void)
{
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuModuleLoadData(&module, code));
    MUST(cuModuleGetFunction(&kernel, module, "step"));
    MUST(cuMemAlloc(&result, 4096));
    MUST(cuCtxPopCurrent(NULL));
}

void pipeline_run(int step)
{
    if (context == NULL)
        start();
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemsetD8(result, (unsigned char)step, 4096));
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
}

void pipeline_release(void)
{
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemFree(result));
    MUST(cuModuleUnload(module));
    MUST(cuCtxDestroy(context));
    context = NULL;
}
#else
int main(void)
{
    for (int step = 0; step < 3; step++)
        pipeline_run(step);
    return 0;
}
#endif
