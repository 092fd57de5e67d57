/* A system of equations by Jacobi's method: a warp for each row, and the largest residual as bits
 * of a float. */
#include "program.cuh"

enum { SIZE = 128 };

__global__ void improve(const float *matrix, const float *right, const float *from, float *to,
                        int *residual)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int column = lane; column < SIZE; column += 32)
        sum += matrix[row * SIZE + column] * from[column];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (lane > 0)
        return;
    float rest = right[row] - sum;
    to[row] = from[row] + rest / matrix[row * SIZE + row];
    atomicMax(residual,
              __float_as_int(fabsf(rest))); /* floats above 0 are in the order of their bits */
}

int main()
{
    random_numbers random(23);
    std::vector<float> matrix = random.floats(SIZE * SIZE), solution = random.floats(SIZE),
                       right(SIZE);
    for (int row = 0; row < SIZE; row++) {
        matrix[row * SIZE + row] += SIZE;
        for (int column = 0; column < SIZE; column++)
            right[row] += matrix[row * SIZE + column] * solution[column];
    }
    on_device<float> there(matrix), b(right), x(SIZE), y(SIZE);
    on_device<int> residual(1);
    float *from = x, *to = y;
    for (int round = 0, last = 1; last; round++) {
        residual.write({0});
        improve<<<SIZE / 4, 128>>>(there, b, from, to, residual);
        LAUNCHED();
        std::swap(from, to);
        float rest;
        MUST(cudaMemcpy(&rest, residual, sizeof rest, cudaMemcpyDeviceToHost));
        last = rest > 1e-3f;
        HOLDS(round < 200);
    }
    near(from == x ? x.read() : y.read(), solution, 1e-4, "unknowns");
    return 0;
}
