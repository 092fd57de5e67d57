/*
 * Contexts and the stack, with nothing but the driver: no ctxrt in it. It runs unchanged on a GPU
 * and, under `ctxrt run`, on the embedded driver.
 *
 *   cc context_tutorial.c -lcuda
 *   ./a.out                         (or: ctxrt run ./a.out)
 * Where there is no libcuda to link with, write instead of -lcuda:
 *   -L$(pkg-config --variable=libdir ctxrt)/ctxrt/cuda-13 -l:libcuda.so.1
 */
#ifdef HAVE_CUDA_H
#include <cuda.h>
#else
#include "cuda_min.h"
#endif

#include <stdbool.h>
#include <stdio.h>

static CUcontext a, b, primary; /* NULL: not there */
static CUdevice device;

#define OK(call) ok((call), #call)

static bool ok(CUresult result, const char *call)
{
    const char *name = "unknown", *text = "";
    if (result == CUDA_SUCCESS)
        return true;
    (void)cuGetErrorName(result, &name);
    (void)cuGetErrorString(result, &text);
    fprintf(stderr, "%s: %s (%s)\n", call, name, text);
    return false;
}

static bool create(CUcontext *out_context)
{
#if CUDA_VERSION >= 13000
    return OK(cuCtxCreate(out_context, NULL, 0, device));
#else
    return OK(cuCtxCreate(out_context, 0, device));
#endif
}

static bool destroy(CUcontext *context)
{
    CUcontext gone = *context;
    *context = NULL;
    return gone == NULL || OK(cuCtxDestroy(gone));
}

static bool show(const char *what)
{
    CUcontext current;
    if (!OK(cuCtxGetCurrent(&current)))
        return false;
    printf("%-29s current: %s\n", what,
           current == NULL      ? "none"
           : current == a       ? "A"
           : current == b       ? "B"
           : current == primary ? "the primary"
                                : "another");
    return true;
}

static bool pop(void)
{
    CUcontext popped;
    return OK(cuCtxPopCurrent(&popped));
}

/* Creating makes it current, on top of what was. */
static bool create_two(void)
{
    return create(&a) && show("create A") && create(&b) && show("create B");
}

static bool allocate_in_a(CUdeviceptr *memory)
{
    return OK(cuCtxPushCurrent(a)) && /* A is twice on this thread's stack now */
           show("push A") && OK(cuMemAlloc(memory, 1)) && OK(cuMemsetD8(*memory, 42, 1)) &&
           OK(cuCtxSynchronize()) && show("allocate in A, fill with 42") && pop() && show("pop") &&
           pop() && pop() && show("pop again, and again");
}

static bool read_in_a(CUdeviceptr memory)
{
    unsigned char byte = 0;
    if (!OK(cuCtxPushCurrent(a)) || !show("push A") || !OK(cuMemcpyDtoH(&byte, memory, 1)))
        return false;
    printf("the memory of A still holds %d: popping frees nothing\n", byte);
    return true;
}

static bool use_contexts(void)
{
    CUdeviceptr memory;
    bool good = create_two() && allocate_in_a(&memory) && read_in_a(memory);
    good = destroy(&a) && good; /* its memory goes with it, and it leaves this thread's stack */
    good = good && show("destroy A");
    good = destroy(&b) && good;
    return good && show("destroy B");
}

/* Retaining makes nothing current. */
static bool use_primary(void)
{
    if (!OK(cuDevicePrimaryCtxRetain(&primary, device)))
        return false;
    bool pushed = show("retain the primary") && OK(cuCtxPushCurrent(primary));
    bool good = pushed && show("push the primary");
    good = (!pushed || pop()) && good;
    good = good && show("pop");
    good = OK(cuDevicePrimaryCtxRelease(device)) && good;
    return good && show("release the primary");
}

int main(void)
{
    return OK(cuInit(0)) && OK(cuDeviceGet(&device, 0)) && use_contexts() && use_primary() ? 0 : 1;
}
