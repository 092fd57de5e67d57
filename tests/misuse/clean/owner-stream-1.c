/* SPDX-License-Identifier: MIT */
/*
 * A pool gives every new stream the attributes of the first one on the same GPU.
 */
#include "misuse.h"

enum { STREAMS = 2 };
static CUcontext contexts[STREAMS];
static CUstream streams[STREAMS], first[STREAMS];

NAMED void open_stream(int device)
{
    MUST(cuCtxPushCurrent(contexts[device]));
    MUST(cuStreamCreate(&first[device], CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&streams[device], CU_STREAM_NON_BLOCKING));
    MUST(cuCtxPopCurrent(NULL));
}

NAMED int like_the_first(int device)
{
    return cuStreamCopyAttributes(streams[device], first[device]) == CUDA_SUCCESS;
}

int main(void)
{
    MUST(cuInit(0));
    for (int i = 0; i < STREAMS; i++) {
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
        open_stream(i);
        printf("stream %d: %s\n", i, like_the_first(i) ? "set up" : "not set up");
    }
    for (int i = 0; i < STREAMS; i++) {
        MUST(cuStreamDestroy(first[i]));
        MUST(cuStreamDestroy(streams[i]));
        MUST(cuDevicePrimaryCtxRelease(i));
    }
    return 0;
}
