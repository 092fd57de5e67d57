/* SPDX-License-Identifier: MIT */
/*
 * What the ports of this folder share: a GPU, a kernel that writes, and what stands for a read of
 * the host. Each stored value is another one than was there: a store that changes nothing is no
 * conflict for `ctxrt check`.
 */
#ifndef MISUSE_CUSAN_H
#define MISUSE_CUSAN_H

#include "gpu.h"

enum { COUNT = 256, BYTES = COUNT * sizeof(int) };

/* write(to, first): to[i] = first + i; add(to): to[i] += 1; copy(to, from): to[i] = from[i] + 1 */
#define CUSAN_KERNEL(name, parameters, body)                              \
    ".visible .entry " name "(.param .u64 to" parameters ")\n"            \
    "{\n"                                                                 \
    "    .reg .b32 %r<4>;\n"                                              \
    "    .reg .b64 %rd<5>;\n"                                             \
    "    ld.param.u64 %rd1, [to];\n"                                      \
    "    mov.u32 %r1, %tid.x;\n"                                          \
    "    mad.wide.u32 %rd2, %r1, 4, %rd1;\n" body                         \
    "    st.global.u32 [%rd2], %r3;\n"                                    \
    "    ret;\n"                                                          \
    "}\n"

static const char cusan_ptx[] =
    ".version 6.3\n.target sm_50\n.address_size 64\n"
    CUSAN_KERNEL("write", ", .param .u32 first",
                 "    ld.param.u32 %r2, [first];\n    add.u32 %r3, %r1, %r2;\n")
    CUSAN_KERNEL("add", "", "    ld.global.u32 %r2, [%rd2];\n    add.u32 %r3, %r2, 1;\n")
    CUSAN_KERNEL("copy", ", .param .u64 from",
                 "    ld.param.u64 %rd3, [from];\n    mad.wide.u32 %rd4, %r1, 4, %rd3;\n"
                 "    ld.global.u32 %r2, [%rd4];\n    add.u32 %r3, %r2, 1;\n");

static inline CUfunction kernel_of(const char *ptx, const char *name)
{
    CUmodule module;
    return load(&module, ptx, name);
}

static inline void run(CUfunction kernel, void **parameters, CUstream stream)
{
    MUST(cuLaunchKernel(kernel, 1, 1, 1, COUNT, 1, 1, 0, stream, parameters, NULL));
}

static inline void write_kernel(CUdeviceptr to, unsigned first, CUstream stream)
{
    run(kernel_of(cusan_ptx, "write"), (void *[]){&to, &first}, stream);
}

static inline CUstream new_stream(unsigned flags)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, flags));
    return stream;
}

static inline void *new_pinned(size_t bytes)
{
    void *pinned;
    MUST(cuMemAllocHost(&pinned, bytes));
    return pinned;
}

static inline CUdeviceptr zeroed(CUdeviceptr memory)
{
    MUST(cuMemsetD8(memory, 0, BYTES));
    MUST(cuCtxSynchronize());
    return memory;
}

static inline CUdeviceptr new_device_memory(void)
{
    CUdeviceptr memory;
    MUST(cuMemAlloc(&memory, BYTES));
    return zeroed(memory);
}

static inline CUdeviceptr new_managed_memory(void)
{
    CUdeviceptr memory;
    MUST(cuMemAllocManaged(&memory, BYTES, CU_MEM_ATTACH_GLOBAL));
    return zeroed(memory);
}

/*
 * The host reads managed memory. No layer below the program sees its loads; a copy in a new
 * non-blocking stream stands for them: it is behind what the host has waited for, and nothing else.
 */
static inline void host_reads(CUdeviceptr memory)
{
    CUstream reader = new_stream(CU_STREAM_NON_BLOCKING);
    MUST(cuMemcpyDtoHAsync(new_pinned(BYTES), memory, BYTES, reader));
    MUST(cuStreamSynchronize(reader));
    MUST(cuStreamDestroy(reader));
}

/* The copy of memory to the host that most cases end with. */
static inline void fetch(CUdeviceptr memory, CUstream stream)
{
    MUST(cuMemcpyDtoHAsync(new_pinned(BYTES), memory, BYTES, stream));
    MUST(cuStreamSynchronize(stream));
}

/* The end: kernels are done, and have told what they touched. */
static inline int done(void)
{
    MUST(cuCtxSynchronize());
    return 0;
}

#endif
