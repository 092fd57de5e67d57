/* SPDX-License-Identifier: MIT */
/*
 * Lesson 7, exercise: a chain over three GPUs. GPU 0 fills a buffer, each next GPU copies it from
 * the one before. Every GPU has its own context and stream. Let each copy wait for what comes
 * before it; no call may make the host wait before the end.
 *
 * Write between the comments only, in three places. Check it: ctxrt lesson 7 --check
 */
#include "lesson.h"

enum { GPUS = 3, BYTES = 4096 };

typedef struct stage {
    CUcontext context;
    CUstream stream;
    CUdeviceptr buffer;
    CUevent done; /* behind the work of this stage */
} stage;

/* Makes what a stage has; its context is current, as cuCtxCreate leaves it. */
static void make_stage(stage *self, int gpu)
{
    MUST(cuCtxCreate(&self->context, 0, gpu));
    MUST(cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&self->buffer, BYTES));
    /* ---- your lines begin ---- */
    MUST(cuEventCreate(&self->done, CU_EVENT_DISABLE_TIMING));
    /* ---- your lines end ---- */
    MUST(cuCtxPopCurrent(NULL));
}

static void copy_from(const stage *self, const stage *before)
{
    /* ---- your lines begin ---- */
    MUST(cuStreamWaitEvent(self->stream, before->done, 0));
    /* ---- your lines end ---- */
    MUST(cuMemcpyPeerAsync(self->buffer, self->context, before->buffer, before->context, BYTES,
                           self->stream));
}

static void tell_done(const stage *self)
{
    /* ---- your lines begin ---- */
    MUST(cuEventRecord(self->done, self->stream));
    /* ---- your lines end ---- */
}

int main(int argc, char **argv)
{
    stage all[GPUS];
    unsigned char byte = 0;

    MUST(cuInit(0));
    for (int i = 0; i < GPUS; i++)
        make_stage(&all[i], i);
    MUST(cuCtxPushCurrent(all[0].context));
    MUST(
        cuMemsetD8Async(all[0].buffer, (unsigned char)number_of(argc, argv), BYTES, all[0].stream));
    MUST(cuCtxPopCurrent(NULL));
    tell_done(&all[0]);
    for (int i = 1; i < GPUS; i++) {
        MUST(cuCtxPushCurrent(all[i].context));
        copy_from(&all[i], &all[i - 1]);
        MUST(cuCtxPopCurrent(NULL));
        tell_done(&all[i]);
    }
    MUST(cuCtxPushCurrent(all[GPUS - 1].context));
    MUST(cuStreamSynchronize(all[GPUS - 1].stream));
    MUST(cuMemcpyDtoH(&byte, all[GPUS - 1].buffer, 1));
    MUST(cuCtxPopCurrent(NULL));
    printf("GPU %d has %d\n", gpu_of(all[GPUS - 1].buffer), byte);
    for (int i = 0; i < GPUS; i++)
        MUST(cuCtxDestroy(all[i].context));
    return 0;
}
