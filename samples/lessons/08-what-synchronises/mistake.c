/* SPDX-License-Identifier: MIT */
/*
 * Lesson 8: a result is computed, copied to the host, shown, kept in an archive on the GPU, and
 * shown again.
 *
 * What will be printed? Under CTXRT_EMU_SCHEDULE=lazy no work runs before something waits for it.
 */
#include "lesson.h"

enum { BYTES = 64 };

int main(void)
{
    CUcontext context;
    CUdeviceptr work, archive;
    CUstream stream;
    unsigned char *result, kept = 0;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&work, BYTES));
    MUST(cuMemAlloc(&archive, BYTES));
    MUST(cuMemAllocHost((void **)&result, BYTES));
    result[0] = 0;

    MUST(cuMemsetD8Async(work, 42, BYTES, stream)); /* the computation */
    MUST(cuMemcpyDtoHAsync(result, work, BYTES, stream));
    printf("the result is %d\n", result[0]);
    MUST(cuMemcpyHtoD(archive, result, BYTES));
    MUST(cuStreamSynchronize(stream));
    printf("a moment later it is %d\n", result[0]);
    MUST(cuMemcpyDtoH(&kept, archive, 1));
    printf("the archive has %d\n", kept);

    MUST(cuMemFreeHost(result));
    MUST(cuCtxDestroy(context));
    return 0;
}
