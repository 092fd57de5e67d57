/* SPDX-License-Identifier: MIT */
/*
 * A player pops its context where the allocation of a frame fails, and then once more at the label
 * that every path reaches. The second pop finds an empty stack and fails. Had the caller pushed a
 * context, the caller would have lost it.
 *
 * expect: STACK-POP-EMPTY
 * at: play_frame
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
        cuCtxPopCurrent(NULL);
        goto end;
    }
    MUST(cuMemFree(frame));
end:
    cuCtxPopCurrent(NULL);
    return result == CUDA_SUCCESS;
}

int main(void)
{
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    int played = play_frame(4096);
    played += play_frame((size_t)1 << 50);
    MUST(cuDevicePrimaryCtxRelease(0));
    printf("%d of 2 frames\n", played);
    return 0;
}
