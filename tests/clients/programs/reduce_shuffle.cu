/* The sum and the maximum of many integers: shuffles within a warp, shared memory within a block.
 */
#include "program.cuh"

__device__ int add(int a, int b)
{
    return a + b;
}

__device__ int larger(int a, int b)
{
    return a > b ? a : b;
}

template <int (*COMBINE)(int, int)> __device__ int combine_warp(int value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value = COMBINE(value, __shfl_down_sync(0xffffffff, value, distance));
    return value;
}

template <int (*COMBINE)(int, int)>
__global__ void reduce(const int *values, size_t count, int *results)
{
    __shared__ int warps[8];
    int mine = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        mine = COMBINE(mine, values[i]);
    mine = combine_warp<COMBINE>(mine);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x < 32) {
        mine = combine_warp<COMBINE>(threadIdx.x < 8 ? warps[threadIdx.x] : 0);
        if (threadIdx.x == 0)
            results[blockIdx.x] = mine;
    }
}

template <int (*COMBINE)(int, int)>
static int reduce_all(const on_device<int> &values, size_t count)
{
    on_device<int> parts(16), result(1);
    reduce<COMBINE><<<16, 256>>>(values, count, parts);
    LAUNCHED();
    reduce<COMBINE><<<1, 256>>>(parts, 16, result);
    LAUNCHED();
    return result.read()[0];
}

int main()
{
    const size_t count = 50001;
    std::vector<int> values = random_numbers(1).ints(count, 10000);
    int sum = 0, most = 0;
    for (int value : values) {
        sum += value;
        most = value > most ? value : most;
    }
    on_device<int> there(values);
    same<int>({reduce_all<add>(there, count), reduce_all<larger>(there, count)}, {sum, most},
              "sum and maximum");
    return 0;
}
