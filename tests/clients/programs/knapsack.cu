/* The best load of a knapsack by dynamic programming: a launch for each thing, in turns between two
 * rows. */
#include "program.cuh"

enum { CAPACITY = 2000, THINGS = 30 };

struct thing {
    int weight, value;
};

__constant__ thing things[THINGS];

__global__ void consider(int number, const int *before, int *after)
{
    int room = blockIdx.x * blockDim.x + threadIdx.x;
    if (room > CAPACITY)
        return;
    thing one = things[number];
    int with = room >= one.weight ? before[room - one.weight] + one.value : 0;
    after[room] = max(before[room], with);
}

int main()
{
    random_numbers random(34);
    std::vector<thing> list(THINGS);
    std::vector<int> best(CAPACITY + 1);
    for (thing &one : list) {
        one = {20 + (int)random.below(200), 1 + (int)random.below(100)};
        for (int room = CAPACITY; room >= one.weight; room--)
            best[room] = std::max(best[room], best[room - one.weight] + one.value);
    }
    MUST(cudaMemcpyToSymbol(things, list.data(), sizeof things));
    on_device<int> a(CAPACITY + 1), b(CAPACITY + 1);
    int *before = a, *after = b;
    for (int i = 0; i < THINGS; i++) {
        consider<<<blocks_for(CAPACITY + 1, 256), 256>>>(i, before, after);
        LAUNCHED();
        std::swap(before, after);
    }
    same(THINGS % 2 == 0 ? a.read() : b.read(), best, "values");
    return 0;
}
