/* SPDX-License-Identifier: MIT */
/*
 * A kernel calls a function object, which holds the address that it writes to. The host does not
 * wait for the event behind the kernel, and reads.
 *
 * expect: ORDER-KERNEL
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

/* call(functor): the address is part of an object that the kernel gets by value. */
static const char ptx[] =
    ".version 6.3\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry call(.param .align 8 .b8 functor[8])\n"
    "{\n"
    "    .reg .b32 %r<3>;\n"
    "    .reg .b64 %rd<3>;\n"
    "    ld.param.u64 %rd1, [functor];\n"
    "    mov.u32 %r1, %tid.x;\n"
    "    add.u32 %r2, %r1, 1;\n"
    "    mad.wide.u32 %rd2, %r1, 4, %rd1;\n"
    "    st.global.u32 [%rd2], %r2;\n"
    "    ret;\n"
    "}\n";

typedef struct functor {
    CUdeviceptr captured;
} functor;

int main(void)
{
    use_gpu(0);
    CUevent end;
    functor self = {new_managed_memory()};
    MUST(cuEventCreate(&end, CU_EVENT_DEFAULT));
    run(kernel_of(ptx, "call"), (void *[]){&self}, NULL);
    MUST(cuEventRecord(end, NULL));
    host_reads(self.captured);
    return done();
}
