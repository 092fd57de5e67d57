/* SPDX-License-Identifier: MIT */
/*
 * A kernel gets the address of the second entry of a table, and writes through the first, which
 * lies before it. The host reads at once.
 *
 * expect: ORDER-KERNEL
 * driver: threads lazy random:1 random:2 random:3
 */
#include "cusan.h"

/* store(table): table[-1][i] = i + 1 */
static const char ptx[] =
    ".version 6.3\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry store(.param .u64 table)\n"
    "{\n"
    "    .reg .b32 %r<3>;\n"
    "    .reg .b64 %rd<4>;\n"
    "    ld.param.u64 %rd1, [table];\n"
    "    ld.global.u64 %rd2, [%rd1+-8];\n"
    "    mov.u32 %r1, %tid.x;\n"
    "    add.u32 %r2, %r1, 1;\n"
    "    mad.wide.u32 %rd3, %r1, 4, %rd2;\n"
    "    st.global.u32 [%rd3], %r2;\n"
    "    ret;\n"
    "}\n";

int main(void)
{
    use_gpu(0);
    CUdeviceptr table = new_managed_memory(), second = table + sizeof(CUdeviceptr);
    CUdeviceptr entries[] = {new_managed_memory(), new_managed_memory()};
    MUST(cuMemcpyHtoD(table, entries, sizeof entries));
    run(kernel_of(ptx, "store"), (void *[]){&second}, NULL);
    host_reads(entries[0]);
    return done();
}
