/* SPDX-License-Identifier: MIT */
/*
 * The kernel prints less than the buffer holds that the program asked for.
 *
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 line[32] = {97, 97, 97, 97, 97, 97, 97, 97, 97, 97, 97, 97, 97, 97, "
    "97, 10};\n"
    ".visible .entry list(.param .u64 all, .param .u32 last)\n{\n"
    ".reg .b32 %r<10>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
    "ld.param.u32 %r9, [last]; mov.u32 %r1, 0;\n"
    "mov.u64 %rd1, line; cvta.global.u64 %rd1, %rd1;\n"
    "AGAIN: { .param .b64 f; .param .b64 a; .param .b32 r;\n"
    "st.param.b64 [f], %rd1; st.param.b64 [a], 0;\n"
    "call.uni (r), vprintf, (f, a); ld.param.b32 %r2, [r]; }\n"
    "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r9;\n"
    "@%p1 bra AGAIN;\n"
    "ret;\n}\n";

NAMED void launch(CUfunction kernel, unsigned int lines)
{
    CUdeviceptr none = 0;
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&none, &lines}, NULL));
}

int main(void)
{
    CUmodule module;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "list");
    MUST(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 4096));
    launch(kernel, 5);
    MUST(cuCtxSynchronize());
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
