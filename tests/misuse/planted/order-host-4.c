/* SPDX-License-Identifier: MIT */
/*
 * A graph copies its result into pinned memory. The program takes the result from there with a copy
 * that is not ordered behind the launch.
 *
 * expect: ORDER-HOST
 * at: take
 * origin: first record
 * origin: second take
 * origin: launched main
 * says: (a copy)
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 1024 };

NAMED CUgraphExec record(void *pinned, CUdeviceptr result, CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuMemcpyDtoHAsync(pinned, result, BYTES, stream));
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    return exec;
}

NAMED void take(CUdeviceptr archive, const void *pinned)
{
    MUST(cuMemcpyHtoD(archive, pinned, BYTES));
}

int main(void)
{
    CUdeviceptr result, archive;
    CUstream stream;
    void *pinned;
    use_gpu(0);
    MUST(cuMemAlloc(&result, BYTES));
    MUST(cuMemAlloc(&archive, BYTES));
    MUST(cuMemAllocHost(&pinned, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraphExec exec = record(pinned, result, stream);
    MUST(cuGraphLaunch(exec, stream));
    take(archive, pinned);
    MUST(cuStreamSynchronize(stream));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFreeHost(pinned));
    MUST(cuMemFree(archive));
    MUST(cuMemFree(result));
    leave_gpu(0);
    return 0;
}
