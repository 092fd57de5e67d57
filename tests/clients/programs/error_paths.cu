/* Errors that a program meets and goes on from: of arguments, launches and memory; the last one is
 * kept until it is read. */
#include "program.cuh"

__global__ void nothing(int *result)
{
    *result = 1;
}

static void refused(cudaError_t error, cudaError_t expected, int line)
{
    if (error != expected || cudaPeekAtLastError() != expected || cudaGetLastError() != expected ||
        cudaGetLastError() != cudaSuccess) {
        fprintf(stderr, "line %d: %s, expected %s\n", line, cudaGetErrorName(error),
                cudaGetErrorName(expected));
        exit(1);
    }
}
#define REFUSED(call, error) refused((call), (error), __LINE__)

static cudaError_t launch(dim3 grid, dim3 block, size_t shared, int *result)
{
    nothing<<<grid, block, shared>>>(result);
    return cudaPeekAtLastError();
}

int main()
{
    int devices, here = 0;
    void *memory;
    MUST(cudaGetDeviceCount(&devices));
    on_device<int> result(1);
    REFUSED(cudaSetDevice(devices), cudaErrorInvalidDevice);
    REFUSED(cudaSetDevice(-1), cudaErrorInvalidDevice);
    REFUSED(cudaMalloc(&memory, (size_t)1 << 50), cudaErrorMemoryAllocation);
    REFUSED(cudaMemcpy(result, NULL, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    REFUSED(cudaMemcpy(result, &here, 4, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    REFUSED(launch(dim3(1), dim3(1025), 0, result), cudaErrorInvalidConfiguration);
    REFUSED(launch(dim3(0), dim3(1), 0, result), cudaErrorInvalidConfiguration);
    REFUSED(launch(dim3(1, 70000), dim3(1), 0, result), cudaErrorInvalidConfiguration);
    REFUSED(launch(dim3(1), dim3(1), 1 << 20, result), cudaErrorInvalidValue);
    REFUSED(cudaHostGetDevicePointer(&memory, &here, 0), cudaErrorInvalidValue);
    HOLDS(result.read()[0] == 0);
    MUST(launch(dim3(1), dim3(1), 0, result));
    same(result.read(), {1}, "after all errors");
    HOLDS(cudaGetErrorString((cudaError_t)12345) != NULL && cudaFree(NULL) == cudaSuccess);
    return 0;
}
