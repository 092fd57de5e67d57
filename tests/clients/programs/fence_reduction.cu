/* A sum in one launch: the block that comes last, by a counter and a fence, adds what the others
 * left. */
#include "program.cuh"

enum { BLOCKS = 12, THREADS = 128 };

__device__ unsigned finished;

__device__ double sum_of_block(double mine)
{
    __shared__ double parts[THREADS];
    parts[threadIdx.x] = mine;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    return parts[0];
}

__global__ void sum(const double *values, int count, volatile double *parts, double *result)
{
    __shared__ bool last;
    double mine = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < count; i += BLOCKS * THREADS)
        mine += values[i];
    mine = sum_of_block(mine);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = mine;
        __threadfence();
        last = atomicInc(&finished, BLOCKS - 1) == BLOCKS - 1;
    }
    __syncthreads();
    if (!last)
        return;
    mine = sum_of_block(threadIdx.x < BLOCKS ? parts[threadIdx.x] : 0);
    if (threadIdx.x == 0)
        *result = mine;
}

int main()
{
    const int count = 20001;
    std::vector<double> values(count);
    random_numbers random(77);
    on_device<double> there(count), parts(BLOCKS), result(1);
    for (int round = 0; round < 3; round++) { /* the counter begins anew by itself */
        double expected = 0;
        for (double &value : values)
            expected += value = random.uniform();
        there.write(values);
        sum<<<BLOCKS, THREADS>>>(there, count, parts, result);
        LAUNCHED();
        near(result.read(), {expected}, 1e-12, "sum");
    }
    return 0;
}
