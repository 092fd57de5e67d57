/* SPDX-License-Identifier: MIT */
/*
 * Work of the device writes pinned memory while a copy behind it waits to read the memory: a fill,
 * and a kernel.
 *
 * options: --host
 * driver: lazy threads random:1
 */
#include "gpu.h"

enum { BYTES = 65536 };

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry write(.param .u64 all) {\n"
    ".reg .b32 %r<2>;\n.reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [all]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
    "add.s64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r1; ret;\n}\n";

int main(void)
{
    CUdeviceptr memory, pages;
    CUmodule module;
    CUstream stream;
    void *buffer;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "write");
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAllocHost(&buffer, BYTES));
    MUST(cuMemHostGetDevicePointer(&pages, buffer, 0));
    MUST(cuMemAlloc(&memory, BYTES));
    MUST(cuMemsetD8Async(pages, 1, BYTES, stream));
    MUST(cuMemcpyHtoDAsync(memory, buffer, BYTES, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream, (void *[]){&pages}, NULL));
    MUST(cuMemcpyHtoDAsync(memory, buffer, BYTES, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFree(memory));
    MUST(cuMemFreeHost(buffer));
    MUST(cuStreamDestroy(stream));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
