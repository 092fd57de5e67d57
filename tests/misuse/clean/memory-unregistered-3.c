/* SPDX-License-Identifier: MIT */
/*
 * A kernel works on a registered buffer by its mapped address. The program waits for the kernel
 * before it unregisters the buffer.
 */
#include "gpu.h"

enum { BYTES = 4096 };

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry mark(.param .u64 place)\n{\n"
                           "    .reg .b64 %d<1>;\n    .reg .b32 %r<1>;\n"
                           "    ld.param.u64 %d0, [place];\n    mov.u32 %r0, 1;\n"
                           "    st.global.u8 [%d0], %r0;\n"
                           "    ret;\n}\n";

NAMED CUdeviceptr take(void *buffer)
{
    CUdeviceptr mapped;
    MUST(cuMemHostRegister(buffer, BYTES, 2));
    MUST(cuMemHostGetDevicePointer(&mapped, buffer, 0));
    return mapped;
}

NAMED void start(CUfunction kernel, CUstream stream, CUdeviceptr place)
{
    void *parameters[] = {&place};
    MUST(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

NAMED void give_back(void *buffer)
{
    MUST(cuMemHostUnregister(buffer));
}

int main(void)
{
    static _Alignas(4096) char buffer[BYTES];
    CUmodule module;
    CUstream stream;
    use_gpu(0);
    CUfunction kernel = load(&module, code, "mark");
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    start(kernel, stream, take(buffer));
    MUST(cuStreamSynchronize(stream));
    give_back(buffer);
    MUST(cuStreamDestroy(stream));
    MUST(cuModuleUnload(module));
    leave_gpu(0);
    return 0;
}
