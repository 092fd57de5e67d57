/* Memory in the order of streams: from the pool of the device, and from one of the program with a
 * limit of its own. */
#include "program.cuh"

enum { COUNT = 1024 };

__global__ void fill(int *values, int by)
{
    values[threadIdx.x] = (int)threadIdx.x * by;
}

__global__ void add(int *sums, const int *values)
{
    sums[threadIdx.x] += values[threadIdx.x];
}

int main()
{
    int supported;
    const size_t bytes = COUNT * sizeof(int);
    MUST(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    HOLDS(supported);
    cudaStream_t stream;
    MUST(cudaStreamCreate(&stream));
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t pool, usual;
    MUST(cudaMemPoolCreate(&pool, &properties));
    MUST(cudaDeviceGetDefaultMemPool(&usual, 0));
    uint64_t keep = ~0ull, kept, used;
    MUST(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));

    int *sums;
    MUST(cudaMallocAsync(&sums, bytes, stream));
    MUST(cudaMemsetAsync(sums, 0, bytes, stream));
    for (int round = 1; round <= 10; round++) {
        int *values;
        MUST(cudaMallocFromPoolAsync(&values, bytes, round % 2 ? pool : usual, stream));
        fill<<<1, COUNT, 0, stream>>>(values, round);
        add<<<1, COUNT, 0, stream>>>(sums, values);
        LAUNCHED();
        MUST(cudaFreeAsync(values, stream));
    }
    std::vector<int> found(COUNT), expected(COUNT);
    MUST(cudaMemcpyAsync(found.data(), sums, bytes, cudaMemcpyDeviceToHost, stream));
    MUST(cudaFreeAsync(sums, stream));
    MUST(cudaStreamSynchronize(stream));
    for (int i = 0; i < COUNT; i++)
        expected[i] = 55 * i;
    same(found, expected, "sums");

    MUST(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    MUST(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &kept));
    HOLDS(used == 0 && kept >= bytes);
    MUST(cudaMemPoolTrimTo(pool, 0));
    MUST(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &kept));
    HOLDS(kept == 0);
    MUST(cudaMemPoolDestroy(pool));
    MUST(cudaStreamDestroy(stream));
    return 0;
}
