/* SPDX-License-Identifier: MIT */
/*
 * A warp multiplies two matrices of halves, and nobody has written the numbers.
 *
 * expect: KERNEL-UNWRITTEN
 * at: square
 * origin: launched square
 * origin: made main
 * says: a read of 32 bytes
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

#define REGISTERS "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}"

static const char ptx[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry square(.param .u64 a, .param .u64 c)\n{\n"
    ".reg .b32 %r<21>; .reg .b64 %rd<4>; .reg .f32 %f<9>;\n"
    "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [c]; mov.u32 %r20, 16;\n"
    "mov.f32 %f1, 0f00000000;\n"
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " REGISTERS ", [%rd1], 16;\n"
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32\n"
    "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, " REGISTERS ", " REGISTERS ",\n"
    "{%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1};\n"
    "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd2],\n"
    "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, 16;\n"
    "ret;\n"
    "}\n";

NAMED void square(CUfunction kernel, CUdeviceptr a, CUdeviceptr c)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&a, &c}, NULL));
}

int main(void)
{
    CUdeviceptr a, c;
    CUmodule module;
    float sums[256];
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "square");
    MUST(cuMemAlloc(&a, 256 * sizeof(short)));
    MUST(cuMemAlloc(&c, 256 * sizeof(float)));
    square(kernel, a, c);
    MUST(cuMemcpyDtoH(sums, c, sizeof sums));
    MUST(cuMemFree(a));
    MUST(cuMemFree(c));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
