/* The fast Walsh-Hadamard transform: short distances by shuffles, longer ones by shared memory.
 * Twice gives all back. */
#include "program.cuh"

enum { SIZE = 512 };

__global__ void transform(const int *from, int *to)
{
    __shared__ int values[SIZE];
    int thread = threadIdx.x, value = from[blockIdx.x * SIZE + thread];
    for (int distance = 1; distance < 32; distance *= 2) {
        int other = __shfl_xor_sync(0xffffffff, value, distance);
        value = thread & distance ? other - value : value + other;
    }
    for (int distance = 32; distance < SIZE; distance *= 2) {
        values[thread] = value;
        __syncthreads();
        int other = values[thread ^ distance];
        value = thread & distance ? other - value : value + other;
        __syncthreads();
    }
    to[blockIdx.x * SIZE + thread] = value;
}

int main()
{
    const int blocks = 3;
    std::vector<int> values = random_numbers(27).ints(blocks * SIZE, 100), expected(blocks * SIZE);
    for (int i = 0; i < blocks * SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            expected[i] += __builtin_parity(i % SIZE & j) ? -values[i / SIZE * SIZE + j]
                                                          : values[i / SIZE * SIZE + j];
    on_device<int> there(values), once(blocks * SIZE), twice(blocks * SIZE);
    transform<<<blocks, SIZE>>>(there, once);
    LAUNCHED();
    transform<<<blocks, SIZE>>>(once, twice);
    LAUNCHED();
    same(once.read(), expected, "transformed");
    for (int i = 0; i < blocks * SIZE; i++)
        expected[i] = values[i] * SIZE;
    same(twice.read(), expected, "transformed twice");
    return 0;
}
