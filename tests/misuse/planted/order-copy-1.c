/* SPDX-License-Identifier: MIT */
/*
 * A frame is sent to the GPU in one stream and copied in another stream, which does not wait for
 * the first. The copy may run before the frame is there, and then it keeps the old frame.
 *
 * expect: ORDER-COPY
 * at: keep
 * origin: first send
 * origin: second keep
 * origin: made main
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

NAMED void send(CUdeviceptr frame, const void *from, CUstream stream)
{
    MUST(cuMemcpyHtoDAsync(frame, from, BYTES, stream));
}

NAMED void keep(CUdeviceptr history, CUdeviceptr frame, CUstream stream)
{
    MUST(cuMemcpyDtoDAsync(history, frame, BYTES, stream));
}

int main(void)
{
    CUdeviceptr frame, history;
    CUstream input, archive;
    CUevent sent;
    void *camera;
    use_gpu(0);
    MUST(cuMemAllocHost(&camera, BYTES));
    MUST(cuMemAlloc(&frame, BYTES));
    MUST(cuMemAlloc(&history, BYTES));
    MUST(cuStreamCreate(&input, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&archive, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&sent, CU_EVENT_DISABLE_TIMING));
    send(frame, camera, input);
    keep(history, frame, archive);
    MUST(cuCtxSynchronize());
    MUST(cuEventDestroy(sent));
    MUST(cuStreamDestroy(archive));
    MUST(cuStreamDestroy(input));
    MUST(cuMemFree(history));
    MUST(cuMemFree(frame));
    MUST(cuMemFreeHost(camera));
    leave_gpu(0);
    return 0;
}
