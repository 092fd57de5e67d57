/* Gaussian elimination with a search for the pivot: one block, which finds the largest by shared
 * memory. */
#include "program.cuh"

enum { SIZE = 40, WIDTH = SIZE + 1, THREADS = 64 };

__global__ void solve(double *system, double *solution)
{
    __shared__ int best[THREADS];
    int thread = threadIdx.x;
    for (int column = 0; column < SIZE; column++) {
        best[thread] = min(column + thread, SIZE - 1);
        for (int half = THREADS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (thread < half && fabs(system[best[thread + half] * WIDTH + column]) >
                                     fabs(system[best[thread] * WIDTH + column]))
                best[thread] = best[thread + half];
        }
        __syncthreads();
        int pivot = best[0];
        if (thread < WIDTH && pivot != column) {
            double upper = system[column * WIDTH + thread];
            system[column * WIDTH + thread] = system[pivot * WIDTH + thread];
            system[pivot * WIDTH + thread] = upper;
        }
        __syncthreads();
        if (thread < SIZE && thread != column) {
            double factor = system[thread * WIDTH + column] / system[column * WIDTH + column];
            for (int i = column; i < WIDTH; i++)
                system[thread * WIDTH + i] -= factor * system[column * WIDTH + i];
        }
        __syncthreads();
    }
    if (thread < SIZE)
        solution[thread] = system[thread * WIDTH + SIZE] / system[thread * WIDTH + thread];
}

int main()
{
    random_numbers random(26);
    std::vector<double> system(SIZE * WIDTH), expected(SIZE);
    for (double &value : expected)
        value = random.uniform();
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++) {
            double value =
                row == column ? 0 : random.uniform() - 0.5; /* without pivots it divides by 0 */
            system[row * WIDTH + column] = value;
            system[row * WIDTH + SIZE] += value * expected[column];
        }
    on_device<double> there(system), solution(SIZE);
    solve<<<1, THREADS>>>(there, solution);
    LAUNCHED();
    near(solution.read(), expected, 1e-9, "unknowns");
    return 0;
}
