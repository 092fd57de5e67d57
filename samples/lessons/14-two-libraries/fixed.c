/* SPDX-License-Identifier: MIT */
/*
 * Lesson 14: a program with a context of its own on GPU 0 calls a codec, a library that works on
 * GPU 1. This file is both of them: compiled with -DMODULE it is the codec, which gives the context
 * back.
 */
#include "lesson_cudart.h"

void decode_picture(void);

#ifdef MODULE

enum { BYTES = 4096 };

void decode_picture(void)
{
    CUcontext primary;
    void *picture;
    MUST(cuDevicePrimaryCtxRetain(&primary, 1));
    MUST(cuCtxPushCurrent(primary));
    MUST(cudaMalloc(&picture, BYTES));
    MUST(cudaMemset(picture, 255, BYTES));
    MUST(cudaFree(picture));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuDevicePrimaryCtxRelease(1));
}

#else

static void show_current(const char *when, CUcontext own)
{
    CUcontext current;
    int device;
    MUST(cudaGetDevice(&device));
    MUST(cuCtxGetCurrent(&current));
    printf("%s: device %d, ", when, device);
    printf("%s\n", current == own ? "the program's context" : "another context");
}

int main(void)
{
    CUcontext own;
    CUstream stream;
    CUevent decoded;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&own, 0, 0));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuCtxPopCurrent(NULL));

    MUST(cuCtxPushCurrent(own));
    show_current("before the codec", own);
    decode_picture();
    show_current("after the codec", own);
    MUST(cuEventCreate(&decoded, CU_EVENT_DEFAULT));
    printf("recording an event: %s\n", name_of(cuEventRecord(decoded, stream)));
    MUST(cuCtxPopCurrent(NULL));

    MUST(cuEventDestroy(decoded));
    MUST(cuStreamDestroy(stream));
    MUST(cuCtxDestroy(own));
    return 0;
}

#endif
