/* Updates of a table at random places by exclusive or, whose order does not matter; the generator
 * jumps ahead by matrices. */
#include "program.cuh"

enum { BITS = 12, UPDATES = 1 << 14, THREADS = 512 };
const uint64_t POLYNOMIAL = 0x1b;

__host__ __device__ uint64_t step(uint64_t value)
{
    return value << 1 ^ ((int64_t)value < 0 ? POLYNOMIAL : 0);
}

/* The value after n steps: products of polynomials, modulo the generator's one. */
__host__ __device__ uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product = 0;
    for (int bit = 63; bit >= 0; bit--)
        product = step(product) ^ (b >> bit & 1 ? a : 0);
    return product;
}

__host__ __device__ uint64_t start_of(uint64_t n)
{
    uint64_t value = 1, power = 2;
    for (; n > 0; n >>= 1, power = times(power, power))
        value = n & 1 ? times(value, power) : value;
    return value;
}

__global__ void update(unsigned long long *table)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t value = start_of((uint64_t)thread * (UPDATES / THREADS) + 1000);
    for (int i = 0; i < UPDATES / THREADS; i++, value = step(value))
        atomicXor(table + (value >> (64 - BITS)), value);
}

int main()
{
    std::vector<unsigned long long> table(1 << BITS);
    for (size_t i = 0; i < table.size(); i++)
        table[i] = i;
    on_device<unsigned long long> there(table);
    update<<<THREADS / 64, 64>>>(there);
    LAUNCHED();
    uint64_t value = 1;
    for (int i = 0; i < 1000; i++)
        value = step(value);
    for (int i = 0; i < UPDATES; i++, value = step(value))
        table[value >> (64 - BITS)] ^= value;
    std::vector<unsigned long long> found = there.read();
    HOLDS(found == table);
    printf("the table is right\n");
    return 0;
}
