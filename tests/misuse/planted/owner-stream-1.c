/* SPDX-License-Identifier: MIT */
/*
 * A pool gives every new stream the attributes of its first one. Its streams are on two GPUs, and
 * attributes are copied within a context only.
 *
 * expect: OWNER-STREAM
 * at: like_the_first
 * origin: made open_stream
 */
#include "misuse.h"

enum { STREAMS = 2 };
static CUcontext contexts[STREAMS];
static CUstream streams[STREAMS];

NAMED void open_stream(int device)
{
    MUST(cuCtxPushCurrent(contexts[device]));
    MUST(cuStreamCreate(&streams[device], CU_STREAM_NON_BLOCKING));
    MUST(cuCtxPopCurrent(NULL));
}

NAMED int like_the_first(CUstream stream)
{
    return cuStreamCopyAttributes(stream, streams[0]) == CUDA_SUCCESS;
}

int main(void)
{
    MUST(cuInit(0));
    for (int i = 0; i < STREAMS; i++) {
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
        open_stream(i);
        printf("stream %d: %s\n", i, like_the_first(streams[i]) ? "set up" : "not set up");
    }
    for (int i = 0; i < STREAMS; i++) {
        MUST(cuStreamDestroy(streams[i]));
        MUST(cuDevicePrimaryCtxRelease(i));
    }
    return 0;
}
