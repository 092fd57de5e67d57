/* The product of two matrices by tiles in shared memory; the sides are no multiples of a tile. */
#include "program.cuh"

enum { TILE = 8 };

__global__ void multiply(const float *a, const float *b, float *product, int rows, int inner,
                         int columns)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int start = 0; start < inner; start += TILE) {
        int across = start + threadIdx.x, down = start + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = y < rows && across < inner ? a[y * inner + across] : 0;
        right[threadIdx.y][threadIdx.x] = down < inner && x < columns ? b[down * columns + x] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (y < rows && x < columns)
        product[y * columns + x] = sum;
}

int main()
{
    const int rows = 50, inner = 70, columns = 45;
    random_numbers random(6);
    std::vector<float> a = random.floats(rows * inner), b = random.floats(inner * columns),
                       expected(rows * columns);
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++)
            for (int i = 0; i < inner; i++)
                expected[y * columns + x] += a[y * inner + i] * b[i * columns + x];
    on_device<float> left(a), right(b), product(rows * columns);
    dim3 blocks(blocks_for(columns, TILE), blocks_for(rows, TILE));
    multiply<<<blocks, dim3(TILE, TILE)>>>(left, right, product, rows, inner, columns);
    LAUNCHED();
    near(product.read(), expected, 1e-5, "products");
    return 0;
}
