/* A sparse matrix as columns of equal length (ELLPACK), with the rest of long rows as triples that
 * add atomically. */
#include "program.cuh"

enum { ROWS = 600, SLOTS = 6 };

struct triple {
    int row, column;
    double value;
};

__global__ void multiply(const int *columns, const double *values, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= ROWS)
        return;
    double sum = 0;
    for (int slot = 0; slot < SLOTS; slot++)
        if (columns[slot * ROWS + row] >= 0)
            sum += values[slot * ROWS + row] * x[columns[slot * ROWS + row]];
    y[row] = sum;
}

__global__ void add_rest(const triple *rest, int count, const double *x, double *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        atomicAdd(y + rest[i].row, rest[i].value * x[rest[i].column]);
}

int main()
{
    random_numbers random(30);
    std::vector<int> columns(SLOTS * ROWS, -1);
    std::vector<double> values(SLOTS * ROWS), x(ROWS), expected(ROWS);
    std::vector<triple> rest;
    for (double &value : x)
        value = random.uniform();
    for (int row = 0; row < ROWS; row++)
        for (int slot = (int)random.below(10) - 1; slot >= 0; slot--) {
            triple entry = {row, (int)random.below(ROWS), random.uniform()};
            expected[row] += entry.value * x[entry.column];
            if (slot >= SLOTS) {
                rest.push_back(entry);
                continue;
            }
            columns[slot * ROWS + row] = entry.column;
            values[slot * ROWS + row] = entry.value;
        }
    on_device<int> a(columns);
    on_device<double> b(values), c(x), y(ROWS);
    on_device<triple> d(rest);
    multiply<<<blocks_for(ROWS, 128), 128>>>(a, b, c, y);
    LAUNCHED();
    add_rest<<<blocks_for(rest.size(), 128), 128>>>(d, (int)rest.size(), c, y);
    LAUNCHED();
    near(y.read(), expected, 1e-12, "products");
    return 0;
}
