/* SPDX-License-Identifier: MIT */
/*
 * A program returns before the push for images that need no work.
 */
#include "gpu.h"

NAMED int convert(CUcontext context, CUdeviceptr image, size_t bytes)
{
    if (bytes == 0)
        return 0;
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemsetD8(image, 1, bytes));
    MUST(cuCtxPopCurrent(&context));
    return 1;
}

int main(void)
{
    static const size_t bytes[] = {64, 0, 32, 0, 0, 64};
    CUdeviceptr image;
    int converted = 0;
    CUcontext context = use_gpu(0);
    MUST(cuMemAlloc(&image, 64));
    for (int i = 0; i < 6; i++)
        converted += convert(context, image, bytes[i]);
    printf("%d\n", converted);
    MUST(cuMemFree(image));
    leave_gpu(0);
    return 0;
}
