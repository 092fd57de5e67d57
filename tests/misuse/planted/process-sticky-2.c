/* SPDX-License-Identifier: MIT */
/*
 * A kernel ends with a trap because its input is bad, and the program tries again with good input
 * in the same context, in which every call fails now with the first error.
 *
 * expect: PROCESS-STICKY
 * at: compute
 */
#include "gpu.h"

#include <stdbool.h>

static const char ptx[] =
    ".version 6.3\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry check(.param .u32 input)\n"
    "{\n"
    "    .reg .pred %p1;\n"
    "    .reg .b32 %r1;\n"
    "    ld.param.u32 %r1, [input];\n"
    "    setp.eq.u32 %p1, %r1, 0;\n"
    "    @%p1 trap;\n"
    "    ret;\n"
    "}\n";

NAMED bool compute(CUfunction check, unsigned input)
{
    (void)cuLaunchKernel(check, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&input}, NULL);
    return cuCtxSynchronize() == CUDA_SUCCESS;
}

int main(void)
{
    CUmodule module;
    use_gpu(0);
    CUfunction check = load(&module, ptx, "check");
    for (unsigned input = 0; input < 3 && !compute(check, input); input++)
        fprintf(stderr, "input %u failed, trying the next\n", input);
    return 0;
}
