/* SPDX-License-Identifier: MIT */
/*
 * A program unloads a library when the last object that needs it is gone, and launches once more
 * a kernel of the library, by the kernel's own handle.
 *
 * expect: HANDLE-ENDED
 * at: launch
 * origin: made get_kernel
 * origin: ended forget
 * says: kernel of a library 1
 * says: kernel of a library 1 was ended by cuLibraryUnload
 */
#include "gpu.h"

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry step()\n{\n    ret;\n}\n";
static CUlibrary library;

NAMED CUkernel get_kernel(void)
{
    CUkernel kernel;
    MUST(cuLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&kernel, library, "step"));
    return kernel;
}

NAMED int launch(CUkernel kernel)
{
    return cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) ==
           CUDA_SUCCESS;
}

NAMED void forget(void)
{
    MUST(cuCtxSynchronize());
    MUST(cuLibraryUnload(library));
}

int main(void)
{
    use_gpu(0);
    CUkernel kernel = get_kernel();
    int launched = launch(kernel);
    forget();
    launched += launch(kernel);
    printf("%d of 2 were launched\n", launched);
    leave_gpu(0);
    return 0;
}
