/* Functions of the device by address: a table in the program, and a pointer that the host reads and
 * hands to a kernel. */
#include "program.cuh"

typedef int (*step)(int);

__host__ __device__ int twice(int value)
{
    return 2 * value;
}

__host__ __device__ int squared(int value)
{
    return value * value;
}

__host__ __device__ int mixed(int value)
{
    return value % 3 == 0 ? squared(value) : twice(value) - 1;
}

__device__ step steps[] = {twice, squared, mixed};
__device__ step chosen = mixed;

__global__ void each_its_own(int *values)
{
    int i = threadIdx.x;
    values[i] = steps[i % 3](values[i]);
}

__global__ void all_the_same(int *values, step one)
{
    values[threadIdx.x] = one(values[threadIdx.x]);
}

int main()
{
    const step here[] = {twice, squared, mixed};
    std::vector<int> values = random_numbers(51).ints(96, 100);
    on_device<int> there(values);
    step on_device_one;
    each_its_own<<<1, 96>>>(there);
    LAUNCHED();
    MUST(cudaMemcpyFromSymbol(&on_device_one, chosen, sizeof on_device_one));
    all_the_same<<<1, 96>>>(there, on_device_one);
    LAUNCHED();
    for (int i = 0; i < 96; i++)
        values[i] = mixed(here[i % 3](values[i]));
    same(there.read(), values, "values");
    return 0;
}
