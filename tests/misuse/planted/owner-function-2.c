/* SPDX-License-Identifier: MIT */
/*
 * A program caches a kernel in a static variable when it is first needed. In the next context the
 * cached one is found and launched in the default stream of another context, which fails.
 *
 * expect: OWNER-FUNCTION
 * at: clear
 * origin: made kernel
 * origin: pushed solve
 * says: kernel 1 of GPU 0 belongs to the primary context of GPU 0
 * says: current there: the primary context of GPU 1, pushed by owner-function-2
 */
#include "misuse.h"

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry clear()\n{\n    ret;\n}\n";

NAMED CUfunction kernel(void)
{
    static CUfunction cached;
    if (cached == NULL) {
        CUmodule module;
        MUST(cuModuleLoadData(&module, code));
        MUST(cuModuleGetFunction(&cached, module, "clear"));
    }
    return cached;
}

NAMED int clear(void)
{
    return cuLaunchKernel(kernel(), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS;
}

NAMED void solve(CUcontext context)
{
    MUST(cuCtxPushCurrent(context));
    puts(clear() ? "cleared" : "not cleared");
    MUST(cuCtxSynchronize());
    MUST(cuCtxPopCurrent(NULL));
}

int main(void)
{
    CUcontext contexts[2];
    MUST(cuInit(0));
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
    for (int i = 0; i < 2; i++)
        solve(contexts[i]);
    for (int i = 0; i < 2; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
