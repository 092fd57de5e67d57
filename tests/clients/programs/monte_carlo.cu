/* Pi by random points: each thread has a generator of its own, and the CPU follows the same
 * numbers. */
#include "program.cuh"

struct generator {
    uint32_t a, b;
    __host__ __device__ explicit generator(uint32_t seed)
        : a(seed * 2654435761u + 1), b(seed ^ 0x9e3779b9u)
    {
    }
    __host__ __device__ uint32_t next()
    {
        a = 36969 * (a & 65535) + (a >> 16);
        b = 18000 * (b & 65535) + (b >> 16);
        return (a << 16) + b;
    }
};

__host__ __device__ int hits(uint32_t seed, int tries)
{
    generator random(seed);
    int count = 0;
    for (int i = 0; i < tries; i++) {
        uint64_t x = random.next() >> 16, y = random.next() >> 16;
        count += x * x + y * y < 1ull << 32;
    }
    return count;
}

__global__ void throw_points(int tries, int *counts)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    counts[thread] = hits((uint32_t)thread + 1, tries);
}

int main()
{
    const int threads = 1024, tries = 300;
    on_device<int> counts(threads);
    throw_points<<<threads / 128, 128>>>(tries, counts);
    LAUNCHED();
    std::vector<int> expected(threads);
    double sum = 0;
    for (int i = 0; i < threads; i++)
        sum += expected[i] = hits((uint32_t)i + 1, tries);
    same(counts.read(), expected, "counts");
    HOLDS(fabs(4 * sum / threads / tries - M_PI) < 0.02);
    return 0;
}
