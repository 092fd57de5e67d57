/* SPDX-License-Identifier: MIT */
/*
 * A library works in a non-blocking stream, and its caller in the default stream. The caller counts
 * on the default stream to wait for all others; non-blocking streams are the ones it does not wait
 * for.
 *
 * expect: ORDER-KERNEL
 * at: publish
 * origin: first solve
 * origin: second publish
 * says: cuLaunchKernel in stream 1
 * says: cuMemcpyDtoD_v2 in the legacy stream
 * origin: made main
 * says: of 4 bytes of device memory
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
static CUstream own_stream;

NAMED void open_library(void)
{
    kernel = load(&module, ptx, "solve");
    MUST(cuStreamCreate(&own_stream, CU_STREAM_NON_BLOCKING));
}

NAMED void solve(CUdeviceptr answer)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, own_stream, (void *[]){&answer}, NULL));
}

NAMED void publish(CUdeviceptr board, CUdeviceptr answer)
{
    MUST(cuMemcpyDtoD(board, answer, sizeof(int)));
}

int main(void)
{
    CUdeviceptr answer, board;
    use_gpu(0);
    open_library();
    MUST(cuMemAlloc(&answer, sizeof(int)));
    MUST(cuMemAlloc(&board, sizeof(int)));
    solve(answer);
    publish(board, answer);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(answer));
    MUST(cuMemFree(board));
    MUST(cuStreamDestroy(own_stream));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
