/* Recursion on the device: Ackermann's function, quicksort and the count of ways to place queens.
 */
#include "program.cuh"

#include <algorithm>

__host__ __device__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

__device__ void quicksort(int *first, int *last)
{
    if (last - first < 2)
        return;
    int pivot = first[(last - first) / 2];
    int *left = first, *right = last - 1;
    while (left <= right) {
        while (*left < pivot)
            left++;
        while (*right > pivot)
            right--;
        if (left <= right) {
            int value = *left;
            *left++ = *right;
            *right-- = value;
        }
    }
    quicksort(first, right + 1);
    quicksort(left, last);
}

__host__ __device__ int queens(int size, unsigned columns, unsigned left, unsigned right)
{
    unsigned all = (1u << size) - 1, free = all & ~(columns | left | right);
    int ways = columns == all;
    for (; free != 0; free &= free - 1) {
        unsigned one = free & -free;
        ways += queens(size, columns | one, (left | one) << 1, (right | one) >> 1);
    }
    return ways;
}

__global__ void work(unsigned *numbers, int *values, int length, int *ways)
{
    numbers[threadIdx.x] = ackermann(2, threadIdx.x);
    quicksort(values + threadIdx.x * length, values + (threadIdx.x + 1) * length);
    ways[threadIdx.x] = queens(1 + threadIdx.x % 6, 0, 0, 0);
}

int main()
{
    const int threads = 12, length = 100;
    MUST(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
    std::vector<int> values = random_numbers(53).ints(threads * length, 1000), ways(threads);
    std::vector<unsigned> numbers(threads);
    on_device<int> sorted(values), counts(threads);
    on_device<unsigned> results(threads);
    work<<<1, threads>>>(results, sorted, length, counts);
    LAUNCHED();
    for (int i = 0; i < threads; i++) {
        numbers[i] = ackermann(2, (unsigned)i);
        std::sort(values.begin() + i * length, values.begin() + (i + 1) * length);
        ways[i] = queens(1 + i % 6, 0, 0, 0);
    }
    same(results.read(), numbers, "numbers of Ackermann");
    same(sorted.read(), values, "sorted");
    same(counts.read(), ways, "ways");
    return 0;
}
