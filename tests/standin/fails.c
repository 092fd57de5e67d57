/* A program whose calls fail: on purpose, as programs do that ask, and by mistake. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char stray_ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry stray()\n{\n    .reg .b64 %rd<2>;\n"
    "    mov.u64 %rd1, 64;\n    st.global.u32 [%rd1], 1;\n    ret;\n}\n";

/* Each of these is an answer that programs look for. */
static int ask(void)
{
    CUcontext context = NULL;
    CUmodule module = NULL;
    CUdeviceptr global;
    size_t bytes;
    int failed = 0, host = 0;
    unsigned int kind;
    failed += cuCtxPopCurrent_v2(&context) != CXU_SUCCESS;
    failed += cuPointerGetAttribute(&kind, CXU_POINTER_MEMORY_TYPE,
                                    (CUdeviceptr)(uintptr_t)&host) != CXU_SUCCESS;
    failed += cuCtxCreate_v2(&context, 0, 0) != CXU_SUCCESS;
    failed += cuModuleLoadData(&module, stray_ptx) != CXU_SUCCESS;
    failed += cuModuleGetGlobal_v2(&global, &bytes, module, "nothing") != CXU_SUCCESS;
    return failed + (cuCtxDestroy_v2(context) != CXU_SUCCESS);
}

static int err(void)
{
    CUdeviceptr pointer;
    int failed = 0;
    for (int i = 0; i < 3; i++)
        failed += cuMemAlloc_v2(&pointer, 16) != CXU_SUCCESS; /* no context is current */
    CUcontext context;
    failed += cuCtxCreate_v2(&context, 0, 0) != CXU_SUCCESS;
    failed += cuMemAlloc_v2(&pointer, (size_t)1 << 40) != CXU_SUCCESS;
    failed += cuMemFree_v2((CUdeviceptr)1) != CXU_SUCCESS;
    failed += cuTexRefCreate(NULL) != CXU_SUCCESS;
    failed += cuTexRefCreate(NULL) != CXU_SUCCESS;
    return failed;
}

/* The kernel's error comes back from every call behind it. */
static int stray(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr pointer;
    int failed = cuModuleLoadData(&module, stray_ptx) != CXU_SUCCESS;
    failed += cuModuleGetFunction(&function, module, "stray") != CXU_SUCCESS;
    failed += cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != CXU_SUCCESS;
    failed += cuCtxSynchronize() != CXU_SUCCESS;
    failed += cuMemAlloc_v2(&pointer, 16) != CXU_SUCCESS;
    return failed + (cuMemFree_v2((CUdeviceptr)1) != CXU_SUCCESS);
}

/* A launch without its configuration is over no limit, whatever the launch before it was. */
static int large(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUcontext context;
    int failed = cuCtxCreate_v2(&context, 0, 0) != CXU_SUCCESS;
    failed += cuModuleLoadData(&module, stray_ptx) != CXU_SUCCESS;
    failed += cuModuleGetFunction(&function, module, "stray") != CXU_SUCCESS;
    for (int i = 0; i < 2; i++)
        failed += cuLaunchKernel(function, 1, 1, 1, 4096, 1, 1, 0, NULL, NULL, NULL) != CXU_SUCCESS;
    failed +=
        cuLaunchCooperativeKernel(function, 1, 70000, 1, 1, 1, 1, 0, NULL, NULL) != CXU_SUCCESS;
    return failed + (cuLaunchKernelEx(NULL, function, NULL, NULL) != CXU_SUCCESS);
}

/* More kinds of failure than a log wants. */
static int many_here(void)
{
    CUcontext context;
    CUevent event;
    CUstream none = NULL;
    int failed = cuCtxCreate_v2(&context, 0xfff, 0) != CXU_SUCCESS;
    failed += cuCtxCreate_v2(&context, 0, 99) != CXU_SUCCESS;
    failed += cuCtxCreate_v2(NULL, 0, 0) != CXU_SUCCESS;
    failed += cuStreamCreate(&none, 99) != CXU_SUCCESS;
    failed += cuStreamCreate(NULL, 0) != CXU_SUCCESS;
    failed += cuEventCreate(&event, 99) != CXU_SUCCESS;
    failed += cuEventCreate(NULL, 0) != CXU_SUCCESS;
    failed += cuEventDestroy_v2(NULL) != CXU_SUCCESS;
    failed += cuEventRecord(NULL, NULL) != CXU_SUCCESS;
    failed += cuEventSynchronize(NULL) != CXU_SUCCESS;
    failed += cuStreamDestroy_v2((CUstream)(void *)&context) != CXU_SUCCESS;
    failed += cuStreamSynchronize((CUstream)(void *)&context) != CXU_SUCCESS;
    failed += cuStreamWaitEvent(NULL, NULL, 0) != CXU_SUCCESS;
    failed += cuModuleUnload(NULL) != CXU_SUCCESS;
    failed += cuModuleLoadData(NULL, NULL) != CXU_SUCCESS;
    failed += cuMemAllocHost_v2(NULL, 0) != CXU_SUCCESS;
    failed += cuMemFreeHost(NULL) != CXU_SUCCESS;
    failed += cuMemcpyHtoD_v2(0, NULL, 16) != CXU_SUCCESS;
    failed += cuMemcpyDtoH_v2(NULL, 0, 16) != CXU_SUCCESS;
    failed += cuMemsetD8_v2(0, 0, 16) != CXU_SUCCESS;
    return failed;
}

static int many(void)
{
    CUcontext context;
    int failed = many_here();
    failed += cuCtxCreate_v2(&context, 0, 0) != CXU_SUCCESS;
    return failed + many_here();
}

/* usage: fails ask|err|stray|large|many */
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (cuInit(0) != CXU_SUCCESS)
        return 99;
    int failed = strcmp(what, "ask") == 0     ? ask()
                 : strcmp(what, "err") == 0   ? err()
                 : strcmp(what, "stray") == 0 ? err() + stray()
                 : strcmp(what, "large") == 0 ? large()
                                              : many();
    (void)printf("%d calls failed\n", failed);
    return 0;
}
