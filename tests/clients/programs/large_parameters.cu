/* A kernel with 20,000 bytes of parameters, one with structures that need alignment, and one by
 * cudaLaunchKernel. */
#include "program.cuh"

struct table {
    int values[4990];
    double last;
};

struct __align__(16) mixed
{
    char letter;
    double number;
    short shorts[3];
    float4 vector;
    int *place;
};

__global__ void pick(const __grid_constant__ table all, int *results)
{
    results[threadIdx.x] = all.values[threadIdx.x * 16] + (int)all.last;
}

__global__ void open(char first, mixed one, short second, double *numbers)
{
    numbers[0] = first + one.letter + one.number + one.shorts[2] + one.vector.w + second;
    *one.place = 5;
}

int main()
{
    table *all = new table;
    std::vector<int> expected(256);
    for (int i = 0; i < 4990; i++)
        all->values[i] = i * i;
    all->last = 17.5;
    for (int i = 0; i < 256; i++)
        expected[i] = i * 16 * i * 16 + 17;
    on_device<int> results(256), place(1);
    on_device<double> numbers(1);
    pick<<<1, 256>>>(*all, results);
    LAUNCHED();
    same(results.read(), expected, "picked");

    int *there = results;
    void *arguments[] = {all, &there};
    all->last = 0;
    MUST(cudaLaunchKernel((const void *)pick, dim3(1), dim3(256), arguments, 0, 0));
    for (int i = 0; i < 256; i++)
        expected[i] -= 17;
    same(results.read(), expected, "picked again");

    mixed one = {3, 0.25, {1, 2, 400}, make_float4(0, 0, 0, 0.5f), place};
    open<<<1, 1>>>(20, one, 1000, numbers);
    LAUNCHED();
    same(numbers.read(), {20 + 3 + 0.25 + 400 + 0.5 + 1000}, "sum of members");
    same(place.read(), {5}, "place");
    delete all;
    return 0;
}
