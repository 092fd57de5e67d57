/* SPDX-License-Identifier: MIT */
/*
 * The second stream waits for an event behind the send, and no host waits for anything.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 1 << 16 };

NAMED void send(CUdeviceptr frame, const void *from, CUstream stream, CUevent sent)
{
    MUST(cuMemcpyHtoDAsync(frame, from, BYTES, stream));
    MUST(cuEventRecord(sent, stream));
}

NAMED void keep(CUdeviceptr history, CUdeviceptr frame, CUstream stream, CUevent sent)
{
    MUST(cuStreamWaitEvent(stream, sent, 0));
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
    send(frame, camera, input, sent);
    keep(history, frame, archive, sent);
    MUST(cuCtxSynchronize());
    MUST(cuEventDestroy(sent));
    MUST(cuStreamDestroy(input));
    MUST(cuStreamDestroy(archive));
    MUST(cuMemFree(frame));
    MUST(cuMemFree(history));
    MUST(cuMemFreeHost(camera));
    leave_gpu(0);
    return 0;
}
