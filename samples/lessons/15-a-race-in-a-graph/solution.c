/* SPDX-License-Identifier: MIT */
/*
 * Lesson 15, exercise: a graph of four nodes. One fills a buffer; two copy it, at the same time;
 * the last one copies the second copy, when it is there. Lead the side streams into the capture and
 * back with the events of the job, so that the graph has these edges and no others.
 *
 * Write between the comments only, in two places. Check it: ctxrt lesson 15 --check
 */
#include "lesson.h"

enum { BYTES = 4096 };

typedef struct job {
    CUstream main, left, right;
    CUevent filled, left_done, right_done;
    CUdeviceptr from, first, second, third;
} job;

static void capture(const job *self, unsigned char value)
{
    MUST(cuMemsetD8Async(self->from, value, BYTES, self->main));
    /* ---- your lines begin ---- */
    MUST(cuEventRecord(self->filled, self->main));
    MUST(cuStreamWaitEvent(self->left, self->filled, 0));
    MUST(cuStreamWaitEvent(self->right, self->filled, 0));
    /* ---- your lines end ---- */
    MUST(cuMemcpyDtoDAsync(self->first, self->from, BYTES, self->left));
    MUST(cuMemcpyDtoDAsync(self->second, self->from, BYTES, self->right));
    /* ---- your lines begin ---- */
    MUST(cuEventRecord(self->left_done, self->left));
    MUST(cuEventRecord(self->right_done, self->right));
    MUST(cuStreamWaitEvent(self->main, self->right_done, 0));
    MUST(cuMemcpyDtoDAsync(self->third, self->second, BYTES, self->main));
    MUST(cuStreamWaitEvent(self->main, self->left_done, 0));
    /* ---- your lines end ---- */
}

static int first_byte_of(CUdeviceptr memory)
{
    unsigned char byte = 0;
    MUST(cuMemcpyDtoH(&byte, memory, 1));
    return byte;
}

static void make_buffer(CUdeviceptr *out_buffer)
{
    MUST(cuMemAlloc(out_buffer, BYTES));
    MUST(cuMemsetD8(*out_buffer, 0, BYTES));
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUgraph graph;
    CUgraphExec exec;
    job job;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuStreamCreate(&job.main, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&job.left, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&job.right, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&job.filled, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&job.left_done, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&job.right_done, CU_EVENT_DISABLE_TIMING));
    make_buffer(&job.from);
    make_buffer(&job.first);
    make_buffer(&job.second);
    make_buffer(&job.third);
    MUST(cuCtxSynchronize());

    MUST(cuStreamBeginCapture(job.main, CU_STREAM_CAPTURE_MODE_GLOBAL));
    capture(&job, (unsigned char)number_of(argc, argv));
    MUST(cuStreamEndCapture(job.main, &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, job.main));
    MUST(cuCtxSynchronize());
    printf("first %d, second %d, third %d\n", first_byte_of(job.first), first_byte_of(job.second),
           first_byte_of(job.third));

    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
    MUST(cuCtxDestroy(context));
    return 0;
}
