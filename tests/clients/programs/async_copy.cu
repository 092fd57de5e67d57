/* Copies to shared memory that run on while threads compute: a pipeline of two stages feeds a
 * moving sum. */
// nvcc: -arch=compute_80
#include "program.cuh"

#include <cooperative_groups.h>
#include <cuda/pipeline>

namespace groups = cooperative_groups;

enum { TILE = 128, TILES = 12 };

__global__ void sum_tiles(const int *values, int *sums)
{
    __shared__ int tiles[2][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    groups::thread_block block = groups::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int sum = 0, asked = 0;
    for (int tile = 0; tile < TILES; tile++) {
        for (; asked < TILES && asked < tile + 2; asked++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, tiles[asked % 2], values + asked * TILE, sizeof tiles[0],
                               pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum = sum * 3 + tiles[tile % 2][(threadIdx.x + tile) % TILE];
        pipeline.consumer_release();
    }
    sums[threadIdx.x] = sum;
}

int main()
{
    std::vector<int> values = random_numbers(69).ints(TILE * TILES, 1000), expected(TILE);
    for (int i = 0; i < TILE; i++)
        for (int tile = 0; tile < TILES; tile++)
            expected[i] = expected[i] * 3 + values[tile * TILE + (i + tile) % TILE];
    on_device<int> there(values), sums(TILE);
    sum_tiles<<<1, TILE>>>(there, sums);
    LAUNCHED();
    same(sums.read(), expected, "sums");
    return 0;
}
