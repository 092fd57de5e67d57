/* Exclusive prefix sums of any length: a tree in the shared memory of each block, then the sums of
 * blocks. */
#include "program.cuh"

enum { BLOCK = 256 };

__global__ void scan_blocks(const int *values, int *sums, int *totals, int count)
{
    __shared__ int tree[BLOCK];
    int thread = threadIdx.x, i = blockIdx.x * BLOCK + thread;
    tree[thread] = i < count ? values[i] : 0;
    for (int stride = 1; stride < BLOCK; stride *= 2) {
        __syncthreads();
        int place = (thread + 1) * 2 * stride - 1;
        if (place < BLOCK)
            tree[place] += tree[place - stride];
    }
    __syncthreads();
    if (thread == 0) {
        totals[blockIdx.x] = tree[BLOCK - 1];
        tree[BLOCK - 1] = 0;
    }
    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
        __syncthreads();
        int place = (thread + 1) * 2 * stride - 1;
        if (place < BLOCK) {
            int left = tree[place - stride];
            tree[place - stride] = tree[place];
            tree[place] += left;
        }
    }
    __syncthreads();
    if (i < count)
        sums[i] = tree[thread];
}

__global__ void add_totals(int *sums, const int *totals, int count)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < count)
        sums[i] += totals[blockIdx.x];
}

static void scan(const int *values, int *sums, int count)
{
    unsigned blocks = blocks_for(count, BLOCK);
    on_device<int> totals(blocks), before(blocks);
    scan_blocks<<<blocks, BLOCK>>>(values, sums, totals, count);
    LAUNCHED();
    if (blocks == 1)
        return;
    scan(totals, before, (int)blocks);
    add_totals<<<blocks, BLOCK>>>(sums, before, count);
    LAUNCHED();
}

int main()
{
    for (int count : {1, 255, 256, 257, 5000, 70000}) {
        std::vector<int> values = random_numbers(count).ints(count, 1000), expected(count);
        for (int i = 1; i < count; i++)
            expected[i] = expected[i - 1] + values[i - 1];
        on_device<int> there(values), sums(count);
        scan(there, sums, count);
        same(sums.read(), expected, "prefix sums");
    }
    return 0;
}
