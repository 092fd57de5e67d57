/* SPDX-License-Identifier: MIT */
/*
 * A program launches a kernel that it has from a library, by a handle that the driver gives for
 * it, with more threads than a block can have; the launch is refused, and it takes fewer. The
 * handle is a good one.
 *
 * provokes: CALL-FAILED
 */
#include "misuse.h"

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry nothing()\n{\n    ret;\n}\n";

NAMED CUfunction find(CUlibrary library)
{
    CUkernel kernel;
    CUfunction function;
    MUST(cuLibraryGetKernel(&kernel, library, "nothing"));
    MUST(cuKernelGetFunction(&function, kernel));
    return function;
}

NAMED int launch(CUfunction function, unsigned int threads)
{
    return cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS;
}

int main(void)
{
    CUcontext context;
    CUlibrary library;
    unsigned int threads = 4096;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    MUST(cuLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0));
    CUfunction function = find(library);
    while (!launch(function, threads))
        threads /= 2;
    printf("%u threads\n", threads);
    MUST(cuCtxSynchronize());
    MUST(cuLibraryUnload(library));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
