/* SPDX-License-Identifier: MIT */
/*
 * A program launches blocks of 256 threads and checks that the launch was taken.
 */
#include "gpu.h"

enum { COUNT = 2048 };

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry step()\n{\n    ret;\n}\n";

NAMED void run(CUfunction kernel, CUdeviceptr values, unsigned char *out)
{
    MUST(cuLaunchKernel(kernel, COUNT / 256, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL));
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
