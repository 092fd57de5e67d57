/* Tables of the program: constant memory by symbol and address, a part of it written, device
 * variables read back. */
#include "program.cuh"

struct table {
    float slope[8], offset[8];
};

__constant__ table lines = {{1, 2, 3, 4, 5, 6, 7, 8}, {}};
__device__ int calls[4] = {10, 20, 30, 40};
__device__ float *where;

__global__ void apply(const float *from, int kind)
{
    where[threadIdx.x] = from[threadIdx.x] * lines.slope[kind] + lines.offset[kind];
    if (threadIdx.x == 0)
        calls[kind % 4]++;
}

int main()
{
    std::vector<float> values = random_numbers(50).floats(64), expected(64);
    on_device<float> from(values), to(64);
    float *place = to, eight[8] = {0, 0, 0, 0, 0, 0.5f, 0, 0};
    MUST(cudaMemcpyToSymbol(where, &place, sizeof place));
    MUST(cudaMemcpyToSymbol(lines, eight, sizeof eight, offsetof(table, offset)));
    apply<<<1, 64>>>(from, 5);
    LAUNCHED();
    for (int i = 0; i < 64; i++)
        expected[i] = values[i] * 6 + 0.5f;
    near(to.read(), expected, 1e-6, "lines");

    std::vector<int> counted(4);
    size_t bytes;
    void *address;
    MUST(cudaMemcpyFromSymbol(counted.data(), calls, sizeof calls));
    same(counted, {10, 21, 30, 40}, "calls");
    MUST(cudaGetSymbolSize(&bytes, calls));
    MUST(cudaGetSymbolAddress(&address, calls));
    HOLDS(bytes == sizeof calls);
    MUST(cudaMemset(address, 0, bytes));
    apply<<<1, 64>>>(from, 2);
    LAUNCHED();
    int third;
    MUST(cudaMemcpyFromSymbol(&third, calls, sizeof third, 2 * sizeof third));
    HOLDS(third == 1);
    return 0;
}
