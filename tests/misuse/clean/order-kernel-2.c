/* SPDX-License-Identifier: MIT */
/*
 * The library takes the stream to work in from its caller: one stream orders the work of both.
 *
 * driver: threads lazy random:1 random:2 random:3
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.3\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry solve(.param .u64 answer)\n"
    "{\n"
    "    .reg .b32 %r1;\n"
    "    .reg .b64 %rd1;\n"
    "    ld.param.u64 %rd1, [answer];\n"
    "    mov.u32 %r1, 42;\n"
    "    st.global.u32 [%rd1], %r1;\n"
    "    ret;\n"
    "}\n";

static CUmodule module;
static CUfunction kernel;

NAMED void open_library(void)
{
    kernel = load(&module, ptx, "solve");
}

NAMED void solve(CUdeviceptr answer, CUstream stream)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&answer}, NULL));
}

NAMED void publish(CUdeviceptr board, CUdeviceptr answer, CUstream stream)
{
    MUST(cuMemcpyDtoDAsync(board, answer, sizeof(int), stream));
}

int main(void)
{
    CUdeviceptr answer, board;
    CUstream stream;
    use_gpu(0);
    open_library();
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&answer, sizeof(int)));
    MUST(cuMemAlloc(&board, sizeof(int)));
    solve(answer, stream);
    publish(board, answer, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFree(answer));
    MUST(cuMemFree(board));
    MUST(cuStreamDestroy(stream));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
