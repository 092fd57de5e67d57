/* SPDX-License-Identifier: MIT */
/*
 * A graph clears a buffer. The program frees the buffer and allocates another one for something
 * else, which may get the address. The next launch of the graph clears that one, or is refused.
 *
 * expect: MEMORY-STALE
 * at: main
 * origin: node record
 * origin: made main
 * origin: ended main
 * says: node 0 of executable graph 1 (a fill)
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { BYTES = 4096 };

NAMED CUgraphExec record(CUdeviceptr buffer, CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuMemsetD8Async(buffer, 0, BYTES, stream));
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    return exec;
}

int main(void)
{
    CUdeviceptr buffer, other;
    CUstream stream;
    use_gpu(0);
    MUST(cuMemAlloc(&buffer, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraphExec exec = record(buffer, stream);
    MUST(cuMemFree(buffer));
    MUST(cuMemAlloc(&other, BYTES));
    (void)cuGraphLaunch(exec, stream); /* refused where nothing has got the address */
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFree(other));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuStreamDestroy(stream));
    leave_gpu(0);
    return 0;
}
