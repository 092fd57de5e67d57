/* Lanes with equal keys find each other: matches of a warp, groups by labels, and sums of a warp in
 * one instruction. */
// nvcc: -arch=compute_80
#include "program.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace groups = cooperative_groups;

enum { KINDS = 6 };

__global__ void match(const int *keys, int *results)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, *result = results + i * KINDS, equal;
    result[0] = (int)__match_any_sync(0xffffffff, keys[i]);
    result[1] = (int)__match_all_sync(0xffffffff, keys[i] / 100, &equal) + equal;
    groups::thread_block_tile<32> warp = groups::tiled_partition<32>(groups::this_thread_block());
    groups::coalesced_group same = groups::labeled_partition(warp, keys[i]);
    result[2] = (int)same.size();
    result[3] = groups::reduce(same, i, groups::plus<int>());
    result[4] = __reduce_max_sync(0xffffffff, keys[i] * 7 % 13);
    groups::thread_block_tile<8> tile = groups::tiled_partition<8>(groups::this_thread_block());
    result[5] = groups::reduce(tile, keys[i], groups::plus<int>());
}

int main()
{
    const int count = 512;
    std::vector<int> keys = random_numbers(67).ints(count, 9), expected(count * KINDS);
    for (int i = 0; i < count; i++) {
        int *row = &expected[i * KINDS], start = i / 32 * 32;
        row[1] = -1 + 1;
        row[4] = -1;
        for (int j = start; j < start + 32; j++) {
            if (keys[j] == keys[i]) {
                row[0] |= (int)(1u << (j - start));
                row[2]++;
                row[3] += j;
            }
            row[4] = std::max(row[4], keys[j] * 7 % 13);
            row[5] += j / 8 == i / 8 ? keys[j] : 0;
        }
    }
    on_device<int> there(keys), results(count * KINDS);
    match<<<4, count / 4>>>(there, results);
    LAUNCHED();
    same(results.read(), expected, "matches");
    return 0;
}
