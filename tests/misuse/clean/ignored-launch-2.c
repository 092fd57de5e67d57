/* SPDX-License-Identifier: MIT */
/*
 * A program tries 60000 bytes of dynamic shared memory, and takes the way that needs less when the
 * launch is refused.
 *
 * provokes: CALL-FAILED
 */
#include "gpu.h"

enum { SHARED_BYTES = 60000 };

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry step()\n{\n    ret;\n}\n";

NAMED CUresult run(CUfunction kernel)
{
    if (cuLaunchKernel(kernel, 4, 1, 1, 64, 1, 1, SHARED_BYTES, NULL, NULL, NULL) != CUDA_SUCCESS)
        MUST(cuLaunchKernel(kernel, 8, 1, 1, 32, 1, 1, SHARED_BYTES / 2, NULL, NULL, NULL));
    return cuCtxSynchronize();
}

int main(void)
{
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, code, "step");
    puts(run(kernel) == CUDA_SUCCESS ? "done" : "failed");
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
