/* SPDX-License-Identifier: MIT */
/*
 * Two streams use one piece of stream-ordered memory, and nothing orders them. The piece before it
 * in memory is freed in between, which changes nothing.
 *
 * expect: ORDER-COPY
 * at: clear_end
 * origin: first write_end
 * origin: second clear_end
 * says: bytes 0 to 511 of 512 bytes of stream-ordered memory
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 512 };

NAMED void write_end(CUdeviceptr memory, CUstream stream)
{
    MUST(cuMemsetD8Async(memory, 1, BYTES, stream));
}

NAMED void clear_end(CUdeviceptr memory, CUstream stream)
{
    MUST(cuMemsetD8Async(memory, 0, BYTES, stream));
}

int main(void)
{
    CUdeviceptr begin, end;
    CUstream streams[2];
    CUevent written;
    use_gpu(0);
    MUST(cuEventCreate(&written, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 2; i++)
        MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    MUST(cuMemAllocAsync(&begin, BYTES, streams[0]));
    MUST(cuMemAllocAsync(&end, BYTES, streams[0])); /* mostly the next bytes */
    MUST(cuEventRecord(written, streams[0]));
    MUST(cuStreamWaitEvent(streams[1], written, 0)); /* both are allocated */
    write_end(end, streams[0]);
    MUST(cuMemFreeAsync(begin, streams[0]));
    clear_end(end, streams[1]);
    MUST(cuCtxSynchronize());
    MUST(cuMemFreeAsync(end, streams[0]));
    MUST(cuCtxSynchronize());
    for (int i = 0; i < 2; i++)
        MUST(cuStreamDestroy(streams[i]));
    MUST(cuEventDestroy(written));
    leave_gpu(0);
    return 0;
}
