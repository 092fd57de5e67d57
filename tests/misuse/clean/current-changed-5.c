/* SPDX-License-Identifier: MIT */
/*
 * A library works in a context of its own and calls the program back meanwhile: what the program
 * makes in the callback is meant to be in the library's context.
 *
 * module: yes
 */
#include "misuse.h"

typedef CUdeviceptr (*need_buffer)(size_t bytes);

void codec_decode(need_buffer call_back);

#ifdef MODULE
void codec_decode(need_buffer call_back)
{
    CUcontext context;
    MUST(cuCtxCreate(&context, 0, 1));
    CUdeviceptr buffer = call_back(4096);
    MUST(cuMemsetD8(buffer, 0, 4096));
    MUST(cuMemFree(buffer));
    MUST(cuCtxDestroy(context));
}
#else
NAMED CUcontext choose_gpu(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxPushCurrent(context));
    return context;
}

NAMED CUdeviceptr make_buffer(size_t bytes)
{
    CUdeviceptr buffer;
    MUST(cuMemAlloc(&buffer, bytes));
    return buffer;
}

int main(void)
{
    CUcontext popped, context = choose_gpu();
    CUdeviceptr own = make_buffer(64);
    codec_decode(make_buffer);
    MUST(cuMemFree(own));
    MUST(cuCtxPopCurrent(&popped));
    puts(popped == context ? "as before" : "changed");
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
#endif
