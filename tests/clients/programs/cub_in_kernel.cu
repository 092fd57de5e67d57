/* A kernel that calls CUB's sum of the device, whose kernels it launches by parameter buffers, and
 * asks what another kernel needs. */
// nvcc: -rdc=true
#include "program.cuh"

#include <cub/cub.cuh>

__global__ void __launch_bounds__(256) scale(float *values, float by)
{
    __shared__ float block[256];
    block[threadIdx.x] = values[threadIdx.x] * by;
    __syncthreads();
    values[threadIdx.x] = block[255 - threadIdx.x];
}

__global__ void sum(const int *values, int count, void *scratch, size_t bytes, int *out_sum,
                    int *out_error)
{
    *out_error = cub::DeviceReduce::Sum(scratch, bytes, values, out_sum, count);
}

__global__ void ask(cudaFuncAttributes *attributes, int *blocks)
{
    blocks[0] = cudaFuncGetAttributes(attributes, scale);
    blocks[1] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks[2], scale, 256, 0);
}

int main()
{
    const int COUNT = 10000;
    std::vector<int> values(COUNT);
    int expected = 0;
    for (int i = 0; i < COUNT; i++) {
        values[i] = i % 37 - 11;
        expected += values[i];
    }
    on_device<int> on(values), results(2), blocks(3);
    size_t bytes = 0;
    MUST(cub::DeviceReduce::Sum(NULL, bytes, (int *)on, (int *)results, COUNT));
    on_device<char> scratch(bytes);
    sum<<<1, 1>>>(on, COUNT, scratch, bytes, results, results + 1);
    LAUNCHED();
    same(results.read(), {expected, cudaSuccess}, "sum");

    cudaFuncAttributes of_host;
    int blocks_of_host;
    MUST(cudaFuncGetAttributes(&of_host, scale));
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_of_host, scale, 256, 0));
    on_device<cudaFuncAttributes> attributes(1);
    ask<<<1, 1>>>(attributes, blocks);
    LAUNCHED();
    same(blocks.read(), {cudaSuccess, cudaSuccess, blocks_of_host}, "blocks");
    cudaFuncAttributes of_kernel = attributes.read()[0];
    HOLDS(of_kernel.sharedSizeBytes == 1024 && of_kernel.maxThreadsPerBlock == 256);
    HOLDS(of_kernel.sharedSizeBytes == of_host.sharedSizeBytes);
    HOLDS(of_kernel.numRegs == of_host.numRegs);
    HOLDS(of_kernel.maxDynamicSharedSizeBytes == of_host.maxDynamicSharedSizeBytes);
    return 0;
}
