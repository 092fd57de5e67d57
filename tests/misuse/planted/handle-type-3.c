/* SPDX-License-Identifier: MIT */
/*
 * A program allows a kernel of a library more shared memory with the call for functions. Launches
 * take such a kernel, cast, but this call does not: cuKernelSetAttribute is for kernels.
 *
 * expect: HANDLE-TYPE
 * at: allow
 * origin: made get_kernel
 * says: kernel of a library 1
 */
#include "gpu.h"

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry step()\n{\n    ret;\n}\n";

NAMED CUkernel get_kernel(CUlibrary *library)
{
    CUkernel kernel;
    MUST(cuLibraryLoadData(library, code, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&kernel, *library, "step"));
    return kernel;
}

NAMED CUresult allow(CUfunction function, int bytes)
{
    return cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
}

int main(void)
{
    CUlibrary library;
    use_gpu(0);
    CUfunction step = (CUfunction)get_kernel(&library);
    MUST(cuLaunchKernel(step, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    puts(allow(step, 4096) == CUDA_SUCCESS ? "allowed" : "not allowed");
    MUST(cuCtxSynchronize());
    MUST(cuLibraryUnload(library));
    leave_gpu(0);
    return 0;
}
