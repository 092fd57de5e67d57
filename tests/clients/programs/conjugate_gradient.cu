/* Conjugate gradients for a band matrix: products, dot products and updates of vectors that stay on
 * the device. */
#include "program.cuh"

enum { SIZE = 1024, BLOCKS = 8, THREADS = 128 };

__host__ __device__ double row_of_product(const double *x, int row)
{
    double sum = 4 * x[row];
    for (int away = 1; away <= 32; away += 31) {
        sum -= row >= away ? x[row - away] : 0;
        sum -= row + away < SIZE ? x[row + away] : 0;
    }
    return sum;
}

__global__ void multiply(const double *x, double *product)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    product[row] = row_of_product(x, row);
}

__global__ void dot(const double *a, const double *b, double *result)
{
    __shared__ double parts[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    parts[threadIdx.x] = a[i] * b[i];
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        atomicAdd(result, parts[0]);
}

/* y = a * x + b * y, where a and b are fractions of numbers on the device. */
__global__ void combine(const double *x, double *y, double sign, const double *over,
                        const double *under, bool scales)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double factor = *over / *under;
    y[i] = scales ? x[i] + factor * y[i] : y[i] + sign * factor * x[i];
}

int main()
{
    random_numbers random(24);
    std::vector<double> solution(SIZE), right(SIZE);
    for (double &value : solution)
        value = random.uniform();
    for (int row = 0; row < SIZE; row++)
        right[row] = row_of_product(solution.data(), row);
    on_device<double> x(SIZE), rest(right), direction(right), product(SIZE), dots(3);
    double *old = dots, *now = dots + 1, *curve = dots + 2;
    dot<<<BLOCKS, THREADS>>>(rest, rest, old);
    for (int round = 0; dots.read()[old - dots] > 1e-20; round++) {
        HOLDS(round < 200);
        MUST(cudaMemset(curve, 0, sizeof *curve));
        MUST(cudaMemset(now, 0, sizeof *now));
        multiply<<<BLOCKS, THREADS>>>(direction, product);
        dot<<<BLOCKS, THREADS>>>(direction, product, curve);
        combine<<<BLOCKS, THREADS>>>(direction, x, 1, old, curve, false);
        combine<<<BLOCKS, THREADS>>>(product, rest, -1, old, curve, false);
        dot<<<BLOCKS, THREADS>>>(rest, rest, now);
        combine<<<BLOCKS, THREADS>>>(rest, direction, 1, now, old, true);
        LAUNCHED();
        std::swap(old, now);
    }
    near(x.read(), solution, 1e-8, "unknowns");
    return 0;
}
