/* SPDX-License-Identifier: MIT */
/*
 * Events order each frame before its copy, and the copy before the next frame.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

enum { FRAMES = 4 };

static const char ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    /* *to = value */
    ".visible .entry set(.param .u64 to, .param .u32 value)\n{\n"
    "    .reg .b32 %r1;\n    .reg .b64 %rd1;\n"
    "    ld.param.u64 %rd1, [to];\n    ld.param.u32 %r1, [value];\n"
    "    st.global.u32 [%rd1], %r1;\n    ret;\n}\n";

static CUevent event;

NAMED void make_frame(CUfunction set, CUdeviceptr frame, CUstream stream)
{
    unsigned int value = 5;
    MUST(cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&frame, &value}, NULL));
}

NAMED void send(void *to, CUdeviceptr frame, CUstream stream)
{
    MUST(cuMemcpyDtoHAsync(to, frame, sizeof(int), stream));
}

static void order(CUstream from, CUstream to)
{
    (void)from;
    (void)to;
    MUST(cuEventRecord(event, from));
    MUST(cuStreamWaitEvent(to, event, 0));
}

int main(void)
{
    CUdeviceptr frame;
    CUmodule module;
    CUstream work, out;
    void *sent;
    use_gpu(0);
    CUfunction set = load(&module, ptx, "set");
    MUST(cuMemAlloc(&frame, sizeof(int)));
    MUST(cuMemAllocHost(&sent, sizeof(int)));
    MUST(cuStreamCreate(&work, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&out, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    make_frame(set, frame, work);
    MUST(cuStreamSynchronize(work)); /* the first frame is made with care */
    for (int i = 0; i < FRAMES; i++) {
        make_frame(set, frame, work);
        order(work, out);
        send(sent, frame, out);
        order(out, work);
    }
    MUST(cuCtxSynchronize());
    MUST(cuEventDestroy(event));
    MUST(cuStreamDestroy(out));
    MUST(cuStreamDestroy(work));
    MUST(cuMemFreeHost(sent));
    MUST(cuMemFree(frame));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
