/* A sparse matrix of compressed rows, times a vector: a thread for a row, a warp for a row. */
#include "program.cuh"

__global__ void by_thread(const int *starts, const int *columns, const float *values,
                          const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = starts[row]; i < starts[row + 1]; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

__global__ void by_warp(const int *starts, const int *columns, const float *values, const float *x,
                        float *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += warpSize)
        sum += __ldg(values + i) * __ldg(x + columns[i]);
    for (int distance = warpSize / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (lane == 0)
        y[row] = sum;
}

int main()
{
    const int rows = 700;
    random_numbers random(29);
    std::vector<int> starts{0}, columns;
    for (int row = 0; row < rows; row++) {
        for (uint32_t i = random.below(row % 50 == 0 ? 100 : 12); i > 0; i--)
            columns.push_back((int)random.below(rows));
        starts.push_back((int)columns.size());
    }
    std::vector<float> values = random.floats(columns.size()), x = random.floats(rows),
                       expected(rows);
    for (int row = 0; row < rows; row++)
        for (int i = starts[row]; i < starts[row + 1]; i++)
            expected[row] += values[i] * x[columns[i]];
    on_device<int> a(starts), b(columns);
    on_device<float> c(values), d(x), y(rows), z(rows);
    by_thread<<<blocks_for(rows, 64), 64>>>(a, b, c, d, y, rows);
    LAUNCHED();
    by_warp<<<blocks_for(rows * 32, 128), 128>>>(a, b, c, d, z, rows);
    LAUNCHED();
    near(y.read(), expected, 1e-5, "by thread");
    near(z.read(), expected, 1e-5, "by warp");
    return 0;
}
