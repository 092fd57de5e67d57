/* Kernels that launch kernels: a sort that launches one for each half, and a tail launch that runs
 * after its parent. */
// nvcc: -rdc=true
#include "program.cuh"

#include <algorithm>

__device__ void insertion_sort(int *values, int count)
{
    for (int i = 1; i < count; i++) {
        int value = values[i], j = i;
        for (; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
}

__global__ void quicksort(int *values, int count)
{
    if (count <= 24) {
        insertion_sort(values, count);
        return;
    }
    int pivot = values[count / 2], left = 0, right = count - 1;
    while (left <= right) {
        while (values[left] < pivot)
            left++;
        while (values[right] > pivot)
            right--;
        if (left <= right) {
            int value = values[left];
            values[left++] = values[right];
            values[right--] = value;
        }
    }
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, stream>>>(values, right + 1);
    quicksort<<<1, 1>>>(values + left, count - left);
    cudaStreamDestroy(stream);
}

__global__ void total(const int *counts, int *sum)
{
    for (int i = 0; i < 8; i++)
        *sum += counts[i];
}

__global__ void count(int *counts)
{
    counts[threadIdx.x] += (int)threadIdx.x;
}

__global__ void parent(int *counts, int *sum)
{
    count<<<1, 8>>>(counts);
    count<<<1, 8>>>(counts);
    total<<<1, 1, 0, cudaStreamTailLaunch>>>(counts, sum);
}

int main()
{
    std::vector<int> values = random_numbers(65).ints(700, 500);
    on_device<int> there(values), counts(8), sum(1);
    quicksort<<<1, 1>>>(there, (int)values.size());
    LAUNCHED();
    std::sort(values.begin(), values.end());
    same(there.read(), values, "sorted");
    parent<<<1, 1>>>(counts, sum);
    LAUNCHED();
    same(sum.read(), {56}, "sum of the tail");
    return 0;
}
