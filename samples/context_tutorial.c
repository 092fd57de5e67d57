/*
 * Contexts and the stack, with nothing but the driver: no ctxrt in it. It runs unchanged on a GPU and, under
 * `ctxrt run`, on the embedded driver.
 *
 *   cc context_tutorial.c -lcuda
 *   ./a.out                         (or: ctxrt run ./a.out)
 */
#ifdef HAVE_CUDA_H
#include <cuda.h>
#else
#include "cuda_min.h"
#endif

#include <stdio.h>
#include <stdlib.h>

static CUcontext a, b, primary;

#define CHECK(call) check(call, #call)

static void check(CUresult result, const char *call)
{
    const char *name = "unknown", *text = "";
    if (result == CUDA_SUCCESS)
        return;
    (void)cuGetErrorName(result, &name);
    (void)cuGetErrorString(result, &text);
    fprintf(stderr, "%s: %s (%s)\n", call, name, text);
    exit(1);
}

static CUcontext create(CUdevice device)
{
    CUcontext context;
#if CUDA_VERSION >= 13000
    CHECK(cuCtxCreate(&context, NULL, 0, device));
#else
    CHECK(cuCtxCreate(&context, 0, device));
#endif
    return context;
}

static void show(const char *what)
{
    CUcontext current;
    CHECK(cuCtxGetCurrent(&current));
    printf("%-29s current: %s\n", what,
           current == NULL      ? "none"
           : current == a       ? "A"
           : current == b       ? "B"
           : current == primary ? "the primary"
                                : "another");
}

int main(void)
{
    CUdevice device;
    CUdeviceptr memory;
    CUcontext popped;
    unsigned char byte = 0;

    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));

    a = create(device); /* creating makes it current, on top of what was */
    show("create A");
    b = create(device);
    show("create B");

    CHECK(cuCtxPushCurrent(a)); /* A is twice on this thread's stack now */
    show("push A");
    CHECK(cuMemAlloc(&memory, 1));
    CHECK(cuMemsetD8(memory, 42, 1));
    CHECK(cuCtxSynchronize());
    show("allocate in A, fill with 42");
    CHECK(cuCtxPopCurrent(&popped));
    show("pop");
    CHECK(cuCtxPopCurrent(&popped));
    CHECK(cuCtxPopCurrent(&popped));
    show("pop again, and again");

    CHECK(cuCtxPushCurrent(a));
    show("push A");
    CHECK(cuMemcpyDtoH(&byte, memory, 1));
    printf("the memory of A still holds %d: popping frees nothing\n", byte);

    CHECK(cuCtxDestroy(a)); /* its memory goes with it, and it leaves this thread's stack */
    a = NULL;
    show("destroy A");
    CHECK(cuCtxDestroy(b));
    b = NULL;
    show("destroy B");

    CHECK(cuDevicePrimaryCtxRetain(&primary, device));
    show("retain the primary"); /* which makes nothing current */
    CHECK(cuCtxPushCurrent(primary));
    show("push the primary");
    CHECK(cuCtxPopCurrent(&popped));
    show("pop");
    CHECK(cuDevicePrimaryCtxRelease(device));
    show("release the primary");
    return 0;
}
