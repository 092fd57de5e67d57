/* The library of opened_library.cu. It has a variable of the same name as one of the program. */
#include "program.cuh"

static __device__ int calls;

static __global__ void times_three(int *values, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] *= 3;
    if (i == 0)
        calls++;
}

/* Gives how often it was called. */
extern "C" int triple(int *values, int count)
{
    int counted;
    times_three<<<blocks_for(count, 64), 64>>>(values, count);
    LAUNCHED();
    MUST(cudaMemcpyFromSymbol(&counted, calls, sizeof counted));
    return counted;
}
