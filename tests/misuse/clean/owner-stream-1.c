/* SPDX-License-Identifier: MIT */
/* Each stream gets the attributes of the first stream on its own GPU. */
#include "misuse.h"

enum { GPUS = 2, EACH = 2, STREAMS = GPUS * EACH };
static CUcontext contexts[GPUS];
static CUstream streams[STREAMS];

NAMED void open_stream(int i)
{
    MUST(cuCtxPushCurrent(contexts[i / EACH]));
    MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    MUST(cuCtxPopCurrent(NULL));
}

NAMED void set_up(int i)
{
    CUstream first = streams[i / EACH * EACH];
    if (cuStreamCopyAttributes(streams[i], first) != CUDA_SUCCESS)
        fprintf(stderr, "stream %d is not set up\n", i);
}

int main(void)
{
    MUST(cuInit(0));
    for (int i = 0; i < GPUS; i++)
        MUST(cuDevicePrimaryCtxRetain(&contexts[i], i));
    for (int i = 0; i < STREAMS; i++) {
        open_stream(i);
        set_up(i);
    }
    for (int i = 0; i < STREAMS; i++)
        MUST(cuStreamDestroy(streams[i]));
    for (int i = 0; i < GPUS; i++)
        MUST(cuDevicePrimaryCtxRelease(i));
    return 0;
}
