/* The nearest of many points for each question: distance and index in one 64-bit word, and its
 * atomic minimum. */
#include "program.cuh"

enum { POINTS = 2000, QUESTIONS = 20, DIMENSIONS = 4 };

__host__ __device__ unsigned long long measure(const int *point, const int *question, int index)
{
    unsigned long long distance = 0;
    for (int i = 0; i < DIMENSIONS; i++)
        distance += (unsigned)((point[i] - question[i]) * (point[i] - question[i]));
    return distance << 32 | index;
}

__global__ void find(const int *points, const int *questions, unsigned long long *nearest)
{
    __shared__ unsigned long long best;
    if (threadIdx.x == 0)
        best = ~0ull;
    __syncthreads();
    unsigned long long mine = ~0ull;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < POINTS; i += gridDim.x * blockDim.x)
        mine = min(mine, measure(points + i * DIMENSIONS, questions + blockIdx.y * DIMENSIONS, i));
    atomicMin(&best, mine);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicMin(nearest + blockIdx.y, best);
}

int main()
{
    random_numbers random(32);
    std::vector<int> points = random.ints(POINTS * DIMENSIONS, 100),
                     questions = random.ints(QUESTIONS * DIMENSIONS, 100);
    std::vector<unsigned long long> expected(QUESTIONS, ~0ull);
    for (int q = 0; q < QUESTIONS; q++)
        for (int i = 0; i < POINTS; i++)
            expected[q] = std::min(expected[q],
                                   measure(&points[i * DIMENSIONS], &questions[q * DIMENSIONS], i));
    on_device<int> a(points), b(questions);
    on_device<unsigned long long> nearest(std::vector<unsigned long long>(QUESTIONS, ~0ull));
    find<<<dim3(4, QUESTIONS), 64>>>(a, b, nearest);
    LAUNCHED();
    same(nearest.read(), expected, "nearest points");
    return 0;
}
