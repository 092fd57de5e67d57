/* Adds two vectors on the GPU: the least program of the CUDA Runtime API.
 *
 *     ctxrt nvcc -o vector_add vector_add.cu && ctxrt run ./vector_add */
#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000, THREADS = 128 };

static void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

__global__ void add(const float *a, const float *b, float *sum, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        sum[i] = a[i] + b[i];
}

int main(void)
{
    static float a[COUNT], b[COUNT], sum[COUNT];
    float *on_gpu;
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)i;
        b[i] = (float)(2 * i);
    }

    must(cudaMalloc((void **)&on_gpu, 3 * sizeof a), "cudaMalloc");
    must(cudaMemcpy(on_gpu, a, sizeof a, cudaMemcpyHostToDevice), "the first copy");
    must(cudaMemcpy(on_gpu + COUNT, b, sizeof b, cudaMemcpyHostToDevice), "the second copy");
    add<<<(COUNT + THREADS - 1) / THREADS, THREADS>>>(on_gpu, on_gpu + COUNT, on_gpu + 2 * COUNT,
                                                      COUNT);
    must(cudaGetLastError(), "the launch");
    must(cudaMemcpy(sum, on_gpu + 2 * COUNT, sizeof sum, cudaMemcpyDeviceToHost), "the sums");
    must(cudaFree(on_gpu), "cudaFree");

    for (int i = 0; i < COUNT; i++)
        if (sum[i] != 3.0f * (float)i) {
            printf("sum %d is %g\n", i, sum[i]);
            return 1;
        }
    printf("%d sums are right\n", COUNT);
    return 0;
}
