/* LU decomposition in place, a pair of kernels for each column, and the two factors multiplied
 * again. */
#include "program.cuh"

enum { SIZE = 48 };

__global__ void divide_column(double *matrix, int pivot)
{
    int row = pivot + 1 + threadIdx.x;
    if (row < SIZE)
        matrix[row * SIZE + pivot] /= matrix[pivot * SIZE + pivot];
}

__global__ void subtract(double *matrix, int pivot)
{
    int column = pivot + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    int row = pivot + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (row < SIZE && column < SIZE)
        matrix[row * SIZE + column] -= matrix[row * SIZE + pivot] * matrix[pivot * SIZE + column];
}

int main()
{
    random_numbers random(25);
    std::vector<double> matrix(SIZE * SIZE), product(SIZE * SIZE);
    for (int i = 0; i < SIZE * SIZE; i++)
        matrix[i] = random.uniform() + (i % (SIZE + 1) == 0 ? SIZE : 0);
    on_device<double> there(matrix);
    for (int pivot = 0; pivot < SIZE - 1; pivot++) {
        unsigned blocks = blocks_for(SIZE - 1 - pivot, 16);
        divide_column<<<1, SIZE>>>(there, pivot);
        LAUNCHED();
        subtract<<<dim3(blocks, blocks), dim3(16, 16)>>>(there, pivot);
        LAUNCHED();
    }
    std::vector<double> factors = there.read();
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++)
            for (int i = 0; i <= std::min(row, column); i++)
                product[row * SIZE + column] +=
                    (i == row ? 1 : factors[row * SIZE + i]) * factors[i * SIZE + column];
    near(product, matrix, 1e-12, "product of the factors");
    return 0;
}
