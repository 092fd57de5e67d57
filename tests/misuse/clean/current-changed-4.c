/* SPDX-License-Identifier: MIT */
/*
 * A plugin creates a context to look what the GPU can do, and destroys it. Later it works in a
 * context that a library beside it pushes, as GStreamer's plugin does with gst_cuda_context_push.
 * The plugin cannot rely on a context that is gone.
 *
 * module: yes
 */
#include "misuse.h"

void context_push(void);
void context_pop(void);

#ifdef MODULE
static CUcontext shared;

void context_push(void)
{
    if (shared == NULL) {
        MUST(cuDevicePrimaryCtxRetain(&shared, 0));
    }
    MUST(cuCtxPushCurrent(shared));
}

void context_pop(void)
{
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(0));
}
#else
NAMED void look_at_gpu(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuCtxDestroy(context));
}

NAMED CUstream open_stream(void)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

int main(void)
{
    look_at_gpu();
    context_push();
    MUST(cuStreamDestroy(open_stream()));
    context_pop();
    return 0;
}
#endif
