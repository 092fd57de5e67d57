/* The template library CUB: collective operations of a block, and a radix sort and a selection of
 * the device. */
#include "program.cuh"

#include <algorithm>
#include <cub/cub.cuh>

enum { THREADS = 64, EACH = 4 };

struct larger {
    __device__ int operator()(int a, int b) const
    {
        return a > b ? a : b;
    }
};

__global__ void scan_blocks(const int *values, int *sums, int *largest)
{
    typedef cub::BlockLoad<int, THREADS, EACH, cub::BLOCK_LOAD_TRANSPOSE> load;
    typedef cub::BlockScan<int, THREADS> scan;
    typedef cub::BlockReduce<int, THREADS> reduce;
    __shared__ union {
        typename load::TempStorage load;
        typename scan::TempStorage scan;
        typename reduce::TempStorage reduce;
    } memory;
    int mine[EACH], most, start = blockIdx.x * THREADS * EACH;
    load(memory.load).Load(values + start, mine);
    __syncthreads();
    most = reduce(memory.reduce).Reduce(mine, larger());
    if (threadIdx.x == 0)
        largest[blockIdx.x] = most;
    __syncthreads();
    scan(memory.scan).InclusiveSum(mine, mine);
    for (int i = 0; i < EACH; i++)
        sums[start + threadIdx.x * EACH + i] = mine[i];
}

int main()
{
    const int blocks = 3, count = blocks * THREADS * EACH;
    std::vector<int> values = random_numbers(74).ints(count, 5000), sums(count), largest(blocks);
    for (int i = 0; i < count; i++) {
        int block = i / (THREADS * EACH);
        sums[i] = values[i] + (i % (THREADS * EACH) ? sums[i - 1] : 0);
        largest[block] = std::max(largest[block], values[i]);
    }
    on_device<int> there(values), found(count), most(blocks), sorted(count);
    scan_blocks<<<blocks, THREADS>>>(there, found, most);
    LAUNCHED();
    same(found.read(), sums, "sums of blocks");
    same(most.read(), largest, "largest of blocks");

    size_t bytes = 0;
    MUST(cub::DeviceRadixSort::SortKeys(nullptr, bytes, (int *)there, (int *)sorted, count));
    on_device<char> room(bytes);
    MUST(cub::DeviceRadixSort::SortKeys((char *)room, bytes, (int *)there, (int *)sorted, count));
    std::sort(values.begin(), values.end());
    same(sorted.read(), values, "sorted");
    return 0;
}
