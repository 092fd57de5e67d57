/* SPDX-License-Identifier: MIT */
/*
 * Lesson 1: a picture is to be kept on GPU 0, and a mask on GPU 1. The line that was missing is
 * there.
 */
#include "lesson.h"

enum { BYTES = 4096 };

int main(void)
{
    CUcontext on_gpu_0, on_gpu_1;
    CUdeviceptr picture, mask;
    CUstream stream;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&on_gpu_0, 0, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuCtxCreate(&on_gpu_1, 0, 1));

    MUST(cuCtxPushCurrent(on_gpu_0));
    MUST(cuMemAlloc(&picture, BYTES)); /* meant for GPU 0 */
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuMemAlloc(&mask, BYTES)); /* meant for GPU 1 */
    printf("the picture is on GPU %d\n", gpu_of(picture));
    printf("the mask is on GPU %d\n", gpu_of(mask));

    CUresult result = cuMemsetD8Async(picture, 255, BYTES, stream); /* the stream of GPU 0 */
    printf("making the picture white: %s\n", name_of(result));

    MUST(cuCtxDestroy(on_gpu_1));
    MUST(cuCtxDestroy(on_gpu_0));
    return 0;
}
