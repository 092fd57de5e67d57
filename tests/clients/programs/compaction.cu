/* Filters numbers: each warp takes room by one atomic addition for all its lanes, by a coalesced
 * group. */
#include "program.cuh"

#include <algorithm>
#include <cooperative_groups.h>

namespace groups = cooperative_groups;

__device__ int claim(int *count)
{
    groups::coalesced_group active = groups::coalesced_threads();
    int start = 0;
    if (active.thread_rank() == 0)
        start = atomicAdd(count, (int)active.size());
    return active.shfl(start, 0) + (int)active.thread_rank();
}

__global__ void keep(const int *values, int length, int bound, int *kept, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length && values[i] < bound)
        kept[claim(count)] = values[i];
}

int main()
{
    const int length = 10007;
    std::vector<int> values = random_numbers(40).ints(length, 100000);
    on_device<int> there(values), kept(length), count(1);
    for (int bound : {0, 30000, 100000}) {
        count.write({0});
        keep<<<blocks_for(length, 192), 192>>>(there, length, bound, kept, count);
        LAUNCHED();
        std::vector<int> expected, found = kept.read();
        for (int value : values)
            if (value < bound)
                expected.push_back(value);
        found.resize(count.read()[0]);
        std::sort(found.begin(), found.end());
        std::sort(expected.begin(), expected.end());
        same(found, expected, "kept");
    }
    return 0;
}
