/* SPDX-License-Identifier: MIT */
/*
 * Lesson 5: a host program calls a guest, a library with a context of its own. The guest pops
 * once, on each path.
 */
#include "lesson.h"

static CUcontext of_guest;

/* The guest. */
static CUresult scale_picture(size_t bytes)
{
    CUdeviceptr scratch = 0;
    MUST(cuCtxPushCurrent(of_guest));
    CUresult result = cuMemAlloc(&scratch, bytes);
    if (result == CUDA_SUCCESS)
        MUST(cuMemFree(scratch));
    MUST(cuCtxPopCurrent(NULL));
    return result;
}

/* The host. */
static void next_picture(size_t bytes)
{
    CUdeviceptr picture;
    printf("guest, %s picture: %s\n", bytes > 4096 ? "huge" : "small",
           name_of(scale_picture(bytes)));
    CUresult result = cuMemAlloc(&picture, 4096);
    printf("host allocates: %s\n", name_of(result));
    if (result == CUDA_SUCCESS)
        MUST(cuMemFree(picture));
}

int main(void)
{
    CUcontext of_host;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&of_guest, 0, 1));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuCtxCreate(&of_host, 0, 0));
    next_picture(4096);
    next_picture((size_t)1 << 45);
    MUST(cuCtxDestroy(of_host));
    MUST(cuCtxDestroy(of_guest));
    return 0;
}
