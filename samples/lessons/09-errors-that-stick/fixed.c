/* SPDX-License-Identifier: MIT */
/*
 * Lesson 9: a kernel stores a number in each of two buffers; both were allocated.
 */
#include "lesson.h"

/* The kernel: *to = value. */
static const char ptx[] = ".version 6.3\n.target sm_50\n.address_size 64\n"
                          ".visible .entry store(.param .u64 to, .param .u32 value)\n{\n"
                          "    .reg .b32 %r1;\n    .reg .b64 %rd1;\n"
                          "    ld.param.u64 %rd1, [to];\n    ld.param.u32 %r1, [value];\n"
                          "    st.global.u32 [%rd1], %r1;\n    ret;\n}\n";

static void show(const char *what, CUresult result)
{
    printf("%-26s %s\n", what, name_of(result));
}

int main(void)
{
    CUcontext context, other;
    CUmodule module;
    CUfunction store;
    CUdeviceptr buffers[2] = {0, 0}, more;
    int value = 42;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&other, 0, 1));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuModuleLoadData(&module, ptx));
    MUST(cuModuleGetFunction(&store, module, "store"));
    MUST(cuMemAlloc(&buffers[0], sizeof value));
    MUST(cuMemAlloc(&buffers[1], sizeof value));
    for (int i = 0; i < 2; i++)
        show("launching", cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL,
                                         (void *[]){&buffers[i], &value}, NULL));
    show("reading the first buffer", cuMemcpyDtoH(&value, buffers[0], sizeof value));
    show("allocating more", cuMemAlloc(&more, 64));
    MUST(cuCtxPopCurrent(NULL)); /* GPU 1 is current now */
    show("allocating on GPU 1", cuMemAlloc(&more, 64));
    MUST(cuCtxDestroy(other));
    MUST(cuCtxDestroy(context));
    return 0;
}
