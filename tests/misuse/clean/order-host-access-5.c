/* SPDX-License-Identifier: MIT */
/*
 * A kernel in front of a copy waits for a word that the host sets when the memory of the copy is
 * ready, and takes the word back.
 *
 * options: --host
 * driver: threads random:1
 */
#include "gpu.h"

#include <string.h>

enum { BYTES = 65536 };

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry take(.param .u64 word) {\n"
    ".reg .pred %p;\n.reg .b32 %r<3>;\n.reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd1, [word];\nNEXT:\nld.volatile.global.u32 %r1, [%rd1];\n"
    "setp.ne.u32 %p, %r1, 1; @%p bra NEXT;\nmov.u32 %r2, 2;\n"
    "st.volatile.global.u32 [%rd1], %r2; ret;\n}\n";

NAMED void copy_behind(CUfunction kernel, CUdeviceptr memory, void *buffer, CUstream stream)
{
    CUdeviceptr word;
    volatile unsigned int *flag;
    MUST(cuMemAllocHost((void **)&flag, sizeof *flag));
    *flag = 0;
    MUST(cuMemHostGetDevicePointer(&word, (void *)flag, 0));
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&word}, NULL));
    MUST(cuMemcpyHtoDAsync(memory, buffer, BYTES, stream));
    memset(buffer, 7, BYTES);
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemFreeHost((void *)flag));
}

int main(void)
{
    CUdeviceptr memory;
    CUmodule module;
    CUstream stream;
    void *buffer;
    use_gpu(0);
    CUfunction kernel = load(&module, ptx, "take");
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAllocHost(&buffer, BYTES));
    MUST(cuMemAlloc(&memory, BYTES));
    copy_behind(kernel, memory, buffer, stream);
    MUST(cuMemFree(memory));
    MUST(cuMemFreeHost(buffer));
    MUST(cuStreamDestroy(stream));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
