/* Barriers of libcu++: warps that make and warps that take pass a buffer to and fro, and atomics
 * with scopes count. */
// nvcc: -arch=compute_80
#include "program.cuh"

#include <cuda/atomic>
#include <cuda/barrier>

enum { HALF = 64, ROUNDS = 10 };

__global__ void pass(const int *values, int *results, int *taken)
{
    typedef cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ barrier filled, empty;
    __shared__ int buffer[HALF];
    if (threadIdx.x == 0) {
        init(&filled, 2 * HALF);
        init(&empty, 2 * HALF);
    }
    __syncthreads();
    int mine = threadIdx.x % HALF;
    if (threadIdx.x < HALF) {
        for (int round = 0; round < ROUNDS; round++) {
            empty.arrive_and_wait();
            buffer[mine] = values[round * HALF + mine];
            (void)filled.arrive();
        }
        return;
    }
    (void)empty.arrive();
    cuda::atomic_ref<int, cuda::thread_scope_device> count(*taken);
    for (int round = 0; round < ROUNDS; round++) {
        filled.arrive_and_wait();
        results[round * HALF + mine] = buffer[HALF - 1 - mine] * 2;
        count.fetch_add(1, cuda::std::memory_order_relaxed);
        if (round < ROUNDS - 1)
            (void)empty.arrive();
    }
}

int main()
{
    std::vector<int> values = random_numbers(70).ints(HALF * ROUNDS, 1000), expected(HALF * ROUNDS);
    for (int i = 0; i < HALF * ROUNDS; i++)
        expected[i] = values[i / HALF * HALF + HALF - 1 - i % HALF] * 2;
    on_device<int> there(values), results(HALF * ROUNDS), taken(1);
    pass<<<1, 2 * HALF>>>(there, results, taken);
    LAUNCHED();
    same(results.read(), expected, "passed on");
    same(taken.read(), {HALF * ROUNDS}, "count");
    return 0;
}
