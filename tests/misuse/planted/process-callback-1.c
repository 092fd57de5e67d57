/* SPDX-License-Identifier: MIT */
/*
 * A host function, which a stream calls when its work is done, frees the memory of that work. Host
 * functions must not call the driver: the free is refused, and the memory leaks.
 *
 * expect: PROCESS-CALLBACK
 * at: done
 */
#include "gpu.h"

NAMED void done(void *argument)
{
    CUdeviceptr *scratch = argument;
    (void)cuMemFree(*scratch);
}

NAMED void work(CUdeviceptr *scratch, CUstream stream)
{
    MUST(cuMemsetD8Async(*scratch, 0, 4096, stream));
    MUST(cuLaunchHostFunc(stream, done, scratch));
}

int main(void)
{
    CUdeviceptr scratch;
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&scratch, 4096));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    work(&scratch, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
