/* Two streams of one device: copies and kernels of each are in order, an event orders one behind
 * the other.
 *
 *     ctxrt nvcc -o streams streams.cu && ctxrt check ./streams */
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 512 };

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

__global__ void twice(int *values)
{
    values[threadIdx.x] *= 2;
}

__global__ void add(int *values, const int *others)
{
    values[threadIdx.x] += others[threadIdx.x];
}

int main(void)
{
    cudaStream_t left, right;
    cudaEvent_t doubled;
    int *host, *a, *b;
    must(cudaStreamCreate(&left), "cudaStreamCreate");
    must(cudaStreamCreate(&right), "cudaStreamCreate");
    must(cudaEventCreateWithFlags(&doubled, cudaEventDisableTiming), "cudaEventCreate");
    /* Copies of pinned memory are asynchronous; those of other host memory may wait. */
    must(cudaMallocHost((void **)&host, 2 * COUNT * sizeof *host), "cudaMallocHost");
    must(cudaMalloc((void **)&a, COUNT * sizeof *a), "cudaMalloc");
    must(cudaMalloc((void **)&b, COUNT * sizeof *b), "cudaMalloc");
    for (int i = 0; i < COUNT; i++) {
        host[i] = i;
        host[COUNT + i] = 7;
    }

    must(cudaMemcpyAsync(a, host, COUNT * sizeof *a, cudaMemcpyHostToDevice, left), "a copy");
    twice<<<1, COUNT, 0, left>>>(a);
    must(cudaEventRecord(doubled, left), "cudaEventRecord");
    must(cudaMemcpyAsync(b, host + COUNT, COUNT * sizeof *b, cudaMemcpyHostToDevice, right),
         "a copy");
    must(cudaStreamWaitEvent(right, doubled, 0), "cudaStreamWaitEvent"); /* without it: a race */
    add<<<1, COUNT, 0, right>>>(a, b);
    must(cudaGetLastError(), "a launch");
    must(cudaMemcpyAsync(host, a, COUNT * sizeof *a, cudaMemcpyDeviceToHost, right), "a copy");
    must(cudaStreamSynchronize(right), "cudaStreamSynchronize");

    printf("2 * %d + 7 = %d\n", COUNT - 1, host[COUNT - 1]);
    must(cudaFree(a), "cudaFree");
    must(cudaFree(b), "cudaFree");
    must(cudaFreeHost(host), "cudaFreeHost");
    must(cudaEventDestroy(doubled), "cudaEventDestroy");
    must(cudaStreamDestroy(left), "cudaStreamDestroy");
    must(cudaStreamDestroy(right), "cudaStreamDestroy");
    return 0;
}
