/* SPDX-License-Identifier: MIT */
/*
 * The programs of the lessons share this: the Driver API, from cuda.h where there is one, else from
 * lesson_cuda.h beside this file; and MUST, for calls that have to succeed.
 */
#ifndef LESSON_H
#define LESSON_H

#include <stdio.h>
#include <stdlib.h>

#if defined(__has_include) && !defined(LESSON_OWN_DECLARATIONS)
#if __has_include(<cuda.h>)
#include <cuda.h>
#define LESSON_HAS_CUDA_H
#endif
#endif
#ifndef LESSON_HAS_CUDA_H
#include "lesson_cuda.h"
#endif

/* CUDA 13 gave this call another parameter: the lessons use the form that all versions know. */
#if CUDA_VERSION >= 13000
#undef cuCtxCreate
#define cuCtxCreate(context, flags, device) cuCtxCreate_v4(context, NULL, flags, device)
#endif

/* Ends the program if the call fails, and says which call. */
#define MUST(call) lesson_must((call), #call, __FILE__, __LINE__)

/* The name of a result, such as "CUDA_ERROR_INVALID_CONTEXT". */
static inline const char *name_of(CUresult result)
{
    const char *name = NULL;
    return cuGetErrorName(result, &name) == CUDA_SUCCESS && name != NULL ? name : "unknown";
}

static inline void lesson_must(CUresult result, const char *call, const char *file, int line)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s:%d: %s gave %s\n", file, line, call, name_of(result));
    exit(3);
}

/* The GPU whose memory an address is of. */
static inline int gpu_of(CUdeviceptr memory)
{
    int ordinal = -1;
    MUST(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
    return ordinal;
}

/* The number that the check passes to an exercise, a different one in each run. */
static inline int number_of(int argc, char **argv)
{
    return argc > 1 ? atoi(argv[1]) : 42;
}

#endif
