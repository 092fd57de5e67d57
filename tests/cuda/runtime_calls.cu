/* The CUDA runtime API, linked into the program (-cudart static). */
#include "cuda_calls.h"

#include <cstdio>
#include <cuda_runtime.h>

namespace
{

__global__ void write_words(unsigned int *words, unsigned int value, size_t count)
{
    size_t index = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < count)
        words[index] = value;
}

const unsigned int BLOCK = 128;

char api[64];

} // namespace

const char *cuda_open(void)
{
    int version = 0, count = 0;
    cudaError_t error = cudaRuntimeGetVersion(&version);
    if (error == cudaSuccess)
        error = cudaGetDeviceCount(&count);
    std::snprintf(api, sizeof api, "CUDA runtime API %d.%d", version / 1000, version % 1000 / 10);
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

void cuda_close(void)
{
}

const char *cuda_api(void)
{
    return api;
}

const char *cuda_error_text(int error)
{
    return cudaGetErrorName(static_cast<cudaError_t>(error));
}

int cuda_set_device(int ordinal)
{
    return cudaSetDevice(ordinal);
}

int cuda_reset_device(void)
{
    return cudaDeviceReset();
}

int cuda_alloc(size_t size_bytes, void **out_pointer)
{
    return cudaMalloc(out_pointer, size_bytes);
}

int cuda_free(void *pointer)
{
    return cudaFree(pointer);
}

int cuda_copy(void *destination, const void *source, size_t size_bytes)
{
    return cudaMemcpy(destination, source, size_bytes, cudaMemcpyDefault);
}

int cuda_stream_create(cudaStream_t *out_stream)
{
    return cudaStreamCreateWithFlags(out_stream, cudaStreamNonBlocking);
}

int cuda_stream_destroy(cudaStream_t stream)
{
    return cudaStreamDestroy(stream);
}

int cuda_stream_synchronize(cudaStream_t stream)
{
    return cudaStreamSynchronize(stream);
}

int cuda_write_words(unsigned int *words, unsigned int value, size_t count, cudaStream_t stream)
{
    unsigned int blocks = static_cast<unsigned int>((count + BLOCK - 1) / BLOCK);
    write_words<<<blocks, BLOCK, 0, stream>>>(words, value, count);
    return cudaGetLastError();
}
