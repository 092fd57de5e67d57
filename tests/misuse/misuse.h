/* SPDX-License-Identifier: MIT */
/*
 * What the programs of tests/misuse share: the Driver API, from cuda.h where there is one, else
 * from misuse_cuda.h beside this file; and MUST, for calls that have to succeed. Whatever is
 * misused is in the programs themselves.
 */
#ifndef MISUSE_H
#define MISUSE_H

#include <stdio.h>
#include <stdlib.h>

#if defined(__has_include) && !defined(MISUSE_OWN_DECLARATIONS)
#if __has_include(<cuda.h>)
#include <cuda.h>
#define MISUSE_HAS_CUDA_H
#endif
#endif
#ifndef MISUSE_HAS_CUDA_H
#include "misuse_cuda.h"
#endif

/* CUDA 13 gave these calls other parameters: the programs use those that all versions know. */
#if CUDA_VERSION >= 13000
#undef cuCtxCreate
#define cuCtxCreate(context, flags, device) cuCtxCreate_v4(context, NULL, flags, device)
#undef cuGraphAddDependencies
#define cuGraphAddDependencies(graph, from, to, count) \
    cuGraphAddDependencies_v2(graph, from, to, NULL, count)
#undef cuStreamGetCaptureInfo
#define cuStreamGetCaptureInfo(stream, status, id, graph, nodes, count) \
    cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, NULL, count)
#undef cuStreamUpdateCaptureDependencies
#define cuStreamUpdateCaptureDependencies(stream, nodes, count, flags) \
    cuStreamUpdateCaptureDependencies_v2(stream, nodes, NULL, count, flags)
#endif

/* The functions that a finding names: no compiler may merge them with their callers. */
#define NAMED static __attribute__((noinline))

/* The exit status of a program whose MUST failed. */
enum { MISUSE_CANNOT = 3 };

/* A call without which the program cannot show what it is to show. */
#define MUST(call) misuse_must((call), #call, __FILE__, __LINE__)

static inline void misuse_must(CUresult result, const char *call, const char *file, int line)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s:%d: %s gave %d\n", file, line, call, (int)result);
    exit(MISUSE_CANNOT);
}

#endif
