/* SPDX-License-Identifier: MIT */
/*
 * The parameter of the kernels is a structure of two structures with an address. One stream writes
 * through the first, another twice through the second; then the first stream writes through the
 * second too, and nothing orders that.
 *
 * expect: ORDER-KERNEL
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

/* store(pair, which, first): member `which` of the structure points to what is written. */
static const char ptx[] =
    ".version 6.3\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry store(.param .align 8 .b8 pair[16], .param .u32 which, .param .u32 first)\n"
    "{\n"
    "    .reg .pred %p1;\n"
    "    .reg .b32 %r<5>;\n"
    "    .reg .b64 %rd<5>;\n"
    "    ld.param.u64 %rd1, [pair];\n"
    "    ld.param.u64 %rd2, [pair+8];\n"
    "    ld.param.u32 %r1, [which];\n"
    "    ld.param.u32 %r2, [first];\n"
    "    setp.eq.u32 %p1, %r1, 0;\n"
    "    selp.b64 %rd3, %rd1, %rd2, %p1;\n"
    "    mov.u32 %r3, %tid.x;\n"
    "    add.u32 %r4, %r3, %r2;\n"
    "    mad.wide.u32 %rd4, %r3, 4, %rd3;\n"
    "    st.global.u32 [%rd4], %r4;\n"
    "    ret;\n"
    "}\n";

typedef struct buffer {
    CUdeviceptr data;
} buffer;

typedef struct pair {
    buffer first, second;
} pair;

static void store(CUfunction kernel, pair all, unsigned which, unsigned first, CUstream stream)
{
    run(kernel, (void *[]){&all, &which, &first}, stream);
}

int main(void)
{
    use_gpu(0);
    CUstream one = new_stream(CU_STREAM_DEFAULT), other = new_stream(CU_STREAM_DEFAULT);
    pair all = {{new_device_memory()}, {new_device_memory()}};
    CUfunction kernel = kernel_of(ptx, "store");
    store(kernel, all, 0, 1, one);
    store(kernel, all, 1, 1001, other);
    store(kernel, all, 1, 2001, other);
    store(kernel, all, 1, 3001, one);
    return done();
}
