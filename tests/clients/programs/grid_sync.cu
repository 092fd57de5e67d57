/* A cooperative launch: the blocks of a grid wait for each other between the steps of one kernel.
 */
#include "program.cuh"

#include <cooperative_groups.h>

namespace groups = cooperative_groups;

/* In each step a thread adds what its right neighbour had. */
__global__ void steps(int *from, int *to, int count, int number)
{
    groups::grid_group grid = groups::this_grid();
    for (int step = 0; step < number; step++) {
        for (int i = (int)grid.thread_rank(); i < count; i += (int)grid.size())
            to[i] = from[i] + from[(i + 1) % count];
        grid.sync();
        int *other = from;
        from = to;
        to = other;
    }
}

int main()
{
    int count = 1500, number = 10, blocks, can;
    MUST(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
    HOLDS(can);
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, steps, 128, 0));
    HOLDS(blocks > 0);
    std::vector<int> values = random_numbers(2).ints(count, 100), next(count);
    on_device<int> a(values), b(count);
    int *from = a, *to = b;
    void *arguments[] = {&from, &to, &count, &number};
    MUST(cudaLaunchCooperativeKernel(steps, dim3(4), dim3(128), arguments));
    for (int step = 0; step < number; step++) {
        for (int i = 0; i < count; i++)
            next[i] = values[i] + values[(i + 1) % count];
        values.swap(next);
    }
    same(a.read(), values, "sums of neighbours");

    /* A grid that cannot be on the device at once is refused. */
    int multiprocessors;
    MUST(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    dim3 too_many((unsigned)(blocks * multiprocessors + 1));
    HOLDS(cudaLaunchCooperativeKernel(steps, too_many, dim3(128), arguments) ==
          cudaErrorCooperativeLaunchTooLarge);
    HOLDS(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    return 0;
}
