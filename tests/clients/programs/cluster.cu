/* Clusters of blocks: a histogram whose bins lie in the shared memory of several blocks. */
// nvcc: -arch=compute_90
#include "program.cuh"

#include <cooperative_groups.h>

namespace groups = cooperative_groups;

enum { BLOCKS = 4, BINS = 64 };

__global__ void count(const int *values, int length, int *bins)
{
    __shared__ int mine[BINS];
    groups::cluster_group cluster = groups::this_cluster();
    mine[threadIdx.x] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
        int *there = cluster.map_shared_rank(mine, (unsigned)values[i] / BINS);
        atomicAdd(there + values[i] % BINS, 1);
    }
    cluster.sync(); /* no block leaves while another writes to it */
    atomicAdd(bins + cluster.block_rank() * BINS + threadIdx.x, mine[threadIdx.x]);
}

__global__ void __cluster_dims__(2, 1, 1) exchange(int *values)
{
    __shared__ int mine;
    groups::cluster_group cluster = groups::this_cluster();
    if (threadIdx.x == 0)
        mine = values[blockIdx.x];
    cluster.sync();
    int theirs = *cluster.map_shared_rank(&mine, 1 - cluster.block_rank());
    cluster.sync();
    if (threadIdx.x == 0)
        values[blockIdx.x] = theirs;
}

int main()
{
    std::vector<int> values = random_numbers(68).ints(5000, BLOCKS * BINS), expected(BLOCKS * BINS);
    for (int value : values)
        expected[value]++;
    on_device<int> there(values), bins(BLOCKS * BINS);
    cudaLaunchConfig_t how{};
    cudaLaunchAttribute size;
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim.x = BLOCKS;
    size.val.clusterDim.y = size.val.clusterDim.z = 1;
    how.gridDim = dim3(2 * BLOCKS);
    how.blockDim = dim3(BINS);
    how.attrs = &size;
    how.numAttrs = 1;
    int clusters;
    MUST(cudaOccupancyMaxActiveClusters(&clusters, count, &how));
    HOLDS(clusters > 0);
    MUST(cudaLaunchKernelEx(&how, count, (const int *)there, (int)values.size(), (int *)bins));
    same(bins.read(), expected, "bins");

    on_device<int> pairs(std::vector<int>{1, 2, 3, 4});
    exchange<<<4, 32>>>(pairs);
    LAUNCHED();
    same(pairs.read(), {2, 1, 4, 3}, "exchanged");
    return 0;
}
