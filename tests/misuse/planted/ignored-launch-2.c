/* SPDX-License-Identifier: MIT */
/*
 * A program asks for 60000 bytes of dynamic shared memory and takes the wait behind the launch for
 * the check of it: the wait succeeds, since nothing runs.
 *
 * options: --notes
 * expect: IGNORED-LAUNCH
 * at: run
 * origin: next run
 * expect: CALL-FAILED
 * says: the launch asks for 60000 bytes of dynamic shared memory and the kernel may have 49152
 */
#include "gpu.h"

enum { SHARED_BYTES = 60000 };

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry step()\n{\n    ret;\n}\n";

NAMED CUresult run(CUfunction kernel)
{
    cuLaunchKernel(kernel, 4, 1, 1, 64, 1, 1, SHARED_BYTES, NULL, NULL, NULL);
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
