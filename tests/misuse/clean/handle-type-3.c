/* SPDX-License-Identifier: MIT */
/*
 * A program launches a kernel of a library by its own handle, cast, and halves the block until the
 * device takes it: the driver refuses the size, not the handle.
 *
 * provokes: CALL-FAILED
 */
#include "gpu.h"

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry step()\n.maxntid 256, 1, 1\n{\n    ret;\n}\n";

NAMED CUkernel get_kernel(CUlibrary *library)
{
    CUkernel kernel;
    MUST(cuLibraryLoadData(library, code, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&kernel, *library, "step"));
    return kernel;
}

NAMED CUresult launch(CUkernel kernel, unsigned int threads)
{
    return cuLaunchKernel((CUfunction)kernel, 1, 1, 1, threads, 1, 1, 0, NULL, NULL, NULL);
}

int main(void)
{
    CUlibrary library;
    unsigned int threads = 4096;
    use_gpu(0);
    CUkernel kernel = get_kernel(&library);
    while (threads > 1 && launch(kernel, threads) == CUDA_ERROR_INVALID_VALUE)
        threads /= 2;
    printf("%u threads\n", threads);
    MUST(cuCtxSynchronize());
    MUST(cuLibraryUnload(library));
    leave_gpu(0);
    return 0;
}
