/* SPDX-License-Identifier: MIT */
/*
 * A program launches a kernel with more threads than a block may have, does not look at the result,
 * and copies back what was in the memory before.
 *
 * expect: IGNORED-LAUNCH
 * at: run
 * origin: next run
 */
#include "gpu.h"

enum { COUNT = 2048 };

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry step()\n{\n    ret;\n}\n";

NAMED void run(CUfunction kernel, CUdeviceptr values, unsigned char *out)
{
    cuLaunchKernel(kernel, 1, 1, 1, COUNT, 1, 1, 0, NULL, NULL, NULL);
    MUST(cuMemcpyDtoH(out, values, COUNT));
}

int main(void)
{
    static unsigned char out[COUNT];
    CUmodule module;
    CUdeviceptr values;
    use_gpu(0);
    CUfunction kernel = load(&module, code, "step");
    MUST(cuMemAlloc(&values, COUNT));
    MUST(cuMemsetD8(values, 1, COUNT));
    run(kernel, values, out);
    printf("%d\n", out[0]);
    MUST(cuMemFree(values));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
