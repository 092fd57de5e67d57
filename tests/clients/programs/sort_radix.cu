/* A radix sort of one block, bit by bit: ballots and counts of bits give each key its place. */
#include "program.cuh"

#include <algorithm>

enum { KEYS = 1024, WARPS = KEYS / 32 };

__global__ void sort(unsigned *keys)
{
    __shared__ unsigned moved[KEYS];
    __shared__ int zeroes[WARPS];
    unsigned key = keys[threadIdx.x];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int bit = 0; bit < 32; bit++) {
        bool one = key >> bit & 1;
        unsigned clear = __ballot_sync(0xffffffff, !one);
        if (lane == 0)
            zeroes[warp] = __popc(clear);
        __syncthreads();
        int before = 0, all = 0;
        for (int i = 0; i < WARPS; i++) {
            before += i < warp ? zeroes[i] : 0;
            all += zeroes[i];
        }
        before += __popc(clear & ((1u << lane) - 1));
        moved[one ? all + (int)threadIdx.x - before : before] = key;
        __syncthreads();
        key = moved[threadIdx.x];
    }
    keys[threadIdx.x] = key;
}

int main()
{
    random_numbers random(16);
    std::vector<unsigned> keys(KEYS);
    for (unsigned &key : keys)
        key = random.next() << random.below(2) * 8;
    on_device<unsigned> there(keys);
    sort<<<1, KEYS>>>(there);
    LAUNCHED();
    std::sort(keys.begin(), keys.end());
    same(there.read(), keys, "keys");
    return 0;
}
