/* A launch that may begin before the kernel in front of it ends: the second waits within itself for
 * the first's results. */
// nvcc: -arch=compute_90
#include "program.cuh"

enum { COUNT = 1024 };

__global__ void first(int *values)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cudaTriggerProgrammaticLaunchCompletion();
    values[i] = i * 3;
}

__global__ void second(const int *values, int *results)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, own = i % 7;
    cudaGridDependencySynchronize();
    results[i] = values[COUNT - 1 - i] + own;
}

int main()
{
    on_device<int> values(COUNT), results(COUNT);
    cudaStream_t stream;
    MUST(cudaStreamCreate(&stream));
    MUST(cudaDeviceSynchronize());
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t how{};
    how.gridDim = dim3(COUNT / 128);
    how.blockDim = dim3(128);
    how.stream = stream;
    how.attrs = &early;
    how.numAttrs = 1;
    std::vector<int> expected(COUNT);
    for (int i = 0; i < COUNT; i++)
        expected[i] = (COUNT - 1 - i) * 3 + i % 7;
    first<<<COUNT / 128, 128, 0, stream>>>(values);
    LAUNCHED();
    MUST(cudaLaunchKernelEx(&how, second, (const int *)values, (int *)results));
    MUST(cudaStreamSynchronize(stream));
    same(results.read(), expected, "results");
    MUST(cudaStreamDestroy(stream));
    return 0;
}
