/* SPDX-License-Identifier: MIT */
/*
 * A player pops its context at one place, which every way out comes by, also where the memory for
 * a frame is missing.
 */
#include "misuse.h"

static CUcontext context;

NAMED int play_frame(size_t bytes)
{
    CUdeviceptr frame;
    MUST(cuCtxPushCurrent(context));
    CUresult result = cuMemAlloc(&frame, bytes);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "no memory for a frame of %zu bytes\n", bytes);
        goto end;
    }
    result = cuMemsetD8(frame, 0, bytes);
    MUST(cuMemFree(frame));
end:
    MUST(cuCtxPopCurrent(NULL));
    return result == CUDA_SUCCESS;
}

int main(void)
{
    const size_t sizes[] = {4096, (size_t)1 << 50, 8192};
    int played = 0;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    for (int i = 0; i < 3; i++)
        played += play_frame(sizes[i]);
    MUST(cuDevicePrimaryCtxRelease(0));
    printf("%d of 3 frames\n", played);
    return 0;
}
