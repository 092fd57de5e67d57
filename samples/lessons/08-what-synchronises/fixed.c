/* SPDX-License-Identifier: MIT */
/*
 * Lesson 8: a result is computed, copied to the host, shown, and kept in an archive on the GPU. The
 * host waits before it looks.
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
    MUST(cuStreamSynchronize(stream));
    printf("the result is %d\n", result[0]);
    MUST(cuMemcpyHtoD(archive, result, BYTES));
    printf("a moment later it is %d\n", result[0]);
    MUST(cuMemcpyDtoH(&kept, archive, 1));
    printf("the archive has %d\n", kept);

    MUST(cuMemFreeHost(result));
    MUST(cuCtxDestroy(context));
    return 0;
}
