/* SPDX-License-Identifier: MIT */
/*
 * The programs of the lessons about the CUDA Runtime API share this: its functions, from
 * cuda_runtime_api.h where there is one, else as declared here; and MUST for its errors, too.
 */
#ifndef LESSON_CUDART_H
#define LESSON_CUDART_H

#include "lesson.h"

#if defined(__has_include) && !defined(LESSON_OWN_DECLARATIONS)
#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#define LESSON_HAS_CUDA_RUNTIME_API_H
#endif
#endif

#ifndef LESSON_HAS_CUDA_RUNTIME_API_H

typedef enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400
} cudaError_t;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMemset(void *pointer, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpy(void *destination, const void *source, size_t bytes,
                       enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *destination, const void *source, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);

#endif

static inline void lesson_must_cudart(cudaError_t error, const char *call, const char *file,
                                      int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s:%d: %s gave %s\n", file, line, call, cudaGetErrorName(error));
    exit(3);
}

/* A call of either interface. */
#undef MUST
#define MUST(call)                         \
    _Generic((call), cudaError_t           \
             : lesson_must_cudart, default \
             : lesson_must)((call), #call, __FILE__, __LINE__)

/* The GPU whose memory a pointer of the Runtime API is of. */
static inline int gpu_of_pointer(const void *memory)
{
    return gpu_of((CUdeviceptr)(size_t)memory);
}

#endif
