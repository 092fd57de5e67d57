/* SPDX-License-Identifier: MIT */
/*
 * A structure has two addresses, of which one is null and not used by the kernel. The host waits,
 * and reads what the kernel writes through the other.
 *
 * expect: nothing
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

/* store(pair, both): first[i] = i + 1, and second[0][i] too where `both` is not 0 */
static const char ptx[] =
    ".version 6.3\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry store(.param .align 8 .b8 pair[16], .param .u32 both)\n"
    "{\n"
    "    .reg .pred %p1;\n"
    "    .reg .b32 %r<4>;\n"
    "    .reg .b64 %rd<6>;\n"
    "    ld.param.u64 %rd1, [pair];\n"
    "    ld.param.u64 %rd2, [pair+8];\n"
    "    ld.param.u32 %r1, [both];\n"
    "    mov.u32 %r2, %tid.x;\n"
    "    add.u32 %r3, %r2, 1;\n"
    "    mad.wide.u32 %rd3, %r2, 4, %rd1;\n"
    "    st.global.u32 [%rd3], %r3;\n"
    "    setp.eq.u32 %p1, %r1, 0;\n"
    "    @%p1 ret;\n"
    "    ld.global.u64 %rd4, [%rd2];\n"
    "    mad.wide.u32 %rd5, %r2, 4, %rd4;\n"
    "    st.global.u32 [%rd5], %r3;\n"
    "    ret;\n"
    "}\n";

typedef struct pair {
    CUdeviceptr first, second;
} pair;

int main(void)
{
    use_gpu(0);
    pair all = {new_managed_memory(), 0};
    unsigned both = 0;
    run(kernel_of(ptx, "store"), (void *[]){&all, &both}, NULL);
    MUST(cuCtxSynchronize());
    host_reads(all.first);
    return done();
}
