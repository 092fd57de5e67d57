/* SPDX-License-Identifier: MIT */
/*
 * A library converts an image in a context of its own. Where the image is too large it pops
 * twice, and the second pop takes the context of the caller, who learns of it by a result in an
 * unexpected place.
 *
 * module: yes
 * expect: STACK-POP-FOREIGN
 * at: convert
 * origin: pushed load_images
 * says: the primary context of GPU 0 was pushed by stack-pop-foreign-2
 */
#include "misuse.h"

int convert(CUcontext own, size_t bytes);

#ifdef MODULE
int convert(CUcontext own, size_t bytes)
{
    CUdeviceptr image;
    MUST(cuCtxPushCurrent(own));
    CUresult result = cuMemAlloc(&image, bytes);
    if (result != CUDA_SUCCESS) {
        MUST(cuCtxPopCurrent(NULL));
    } else {
        MUST(cuMemsetD8(image, 255, bytes));
        MUST(cuMemFree(image));
    }
    MUST(cuCtxPopCurrent(NULL));
    return result == CUDA_SUCCESS;
}
#else
NAMED void load_images(CUcontext ours, CUcontext theirs)
{
    MUST(cuCtxPushCurrent(ours));
    if (!convert(theirs, 4096) || convert(theirs, (size_t)1 << 50))
        fputs("an image went wrong\n", stderr);
    CUcontext now = NULL;
    MUST(cuCtxGetCurrent(&now));
    if (now == ours)
        MUST(cuCtxPopCurrent(NULL));
    else
        fputs("the context is gone\n", stderr);
}

int main(void)
{
    CUcontext ours, theirs;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&ours, 0));
    MUST(cuDevicePrimaryCtxRetain(&theirs, 1));
    load_images(ours, theirs);
    MUST(cuDevicePrimaryCtxRelease(1));
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
#endif
