/* A bitonic sorting network over pairs of key and value, a launch for each of its steps. */
#include "program.cuh"

#include <algorithm>

__global__ void step(uint64_t *pairs, unsigned length, unsigned distance)
{
    unsigned here = blockIdx.x * blockDim.x + threadIdx.x, there = here ^ distance;
    if (there < here)
        return;
    bool rising = (here & length) == 0;
    uint64_t a = pairs[here], b = pairs[there];
    if ((a > b) == rising) {
        pairs[here] = b;
        pairs[there] = a;
    }
}

int main()
{
    const unsigned count = 4096;
    random_numbers random(14);
    std::vector<uint64_t> pairs(count);
    for (unsigned i = 0; i < count; i++)
        pairs[i] = (uint64_t)random.below(1000) << 32 | i;
    on_device<uint64_t> there(pairs);
    for (unsigned length = 2; length <= count; length *= 2)
        for (unsigned distance = length / 2; distance > 0; distance /= 2) {
            step<<<count / 256, 256>>>(there, length, distance);
            LAUNCHED();
        }
    std::sort(pairs.begin(), pairs.end());
    same(there.read(), pairs, "pairs");
    return 0;
}
