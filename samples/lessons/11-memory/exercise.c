/* SPDX-License-Identifier: MIT */
/*
 * Lesson 11, exercise: run_job uses a stream, an event, memory of the device and pinned memory of
 * the host. Give all of it back, each in its own way and when nothing uses it any more. The program
 * runs three jobs in one context.
 *
 * Write between the comments only, in two places. Check it: ctxrt lesson 11 --check
 */
#include "lesson.h"

enum { JOBS = 3, BYTES = 1 << 22 };

static void run_job(CUcontext context, unsigned char value)
{
    CUstream stream;
    CUevent done;
    CUdeviceptr buffer;
    unsigned char *pinned;

    MUST(cuCtxPushCurrent(context));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemAlloc(&buffer, BYTES));
    MUST(cuMemAllocHost((void **)&pinned, BYTES));
    pinned[0] = 0;
    MUST(cuMemsetD8Async(buffer, value, BYTES, stream));
    MUST(cuMemcpyDtoHAsync(pinned, buffer, BYTES, stream));
    MUST(cuEventRecord(done, stream));
    /* ---- your lines begin ---- */
    /* ---- your lines end ---- */
    printf("the job gives %d\n", pinned[0]);
    /* ---- your lines begin ---- */
    /* ---- your lines end ---- */
    MUST(cuCtxPopCurrent(NULL));
}

static size_t free_memory(CUcontext context)
{
    size_t bytes, total;
    MUST(cuCtxPushCurrent(context));
    MUST(cuMemGetInfo(&bytes, &total));
    MUST(cuCtxPopCurrent(NULL));
    return bytes;
}

int main(int argc, char **argv)
{
    CUcontext context;
    unsigned char number = (unsigned char)number_of(argc, argv);

    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    run_job(context, number); /* the first one pays for what the driver itself keeps */
    size_t before = free_memory(context);
    for (int i = 1; i < JOBS; i++) {
        run_job(context, number);
        printf("free memory: %s\n", free_memory(context) >= before ? "as before" : "less");
    }
    return 0; /* the context stays, as in a server, so that all that is left in it is seen */
}
