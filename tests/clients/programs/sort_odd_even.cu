/* Odd-even transposition: one block sorts rows of unequal lengths in shared memory, a row after the
 * other. */
#include "program.cuh"

#include <algorithm>

__global__ void sort_rows(int *values, const int *starts)
{
    extern __shared__ int row[];
    int first = starts[blockIdx.x], length = starts[blockIdx.x + 1] - first;
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        row[i] = values[first + i];
    for (int round = 0; round < length; round++) {
        __syncthreads();
        for (int i = 2 * threadIdx.x + round % 2; i + 1 < length; i += 2 * blockDim.x)
            if (row[i] > row[i + 1]) {
                int larger = row[i];
                row[i] = row[i + 1];
                row[i + 1] = larger;
            }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        values[first + i] = row[i];
}

int main()
{
    random_numbers random(15);
    std::vector<int> starts{0};
    for (int rows = 0; rows < 20; rows++)
        starts.push_back(starts.back() + (int)random.below(130));
    std::vector<int> values = random.ints(starts.back(), 500);
    on_device<int> there(values), bounds(starts);
    sort_rows<<<20, 32, 130 * sizeof(int)>>>(there, bounds);
    LAUNCHED();
    for (int row = 0; row < 20; row++)
        std::sort(values.begin() + starts[row], values.begin() + starts[row + 1]);
    same(there.read(), values, "rows");
    return 0;
}
