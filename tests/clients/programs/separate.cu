/* Separate compilation: functions, variables and a kernel of another file, linked for the device.
 */
// nvcc: -rdc=true
#include "program.cuh"

extern __device__ int polynomial(int value);
extern __device__ int calls;
extern __constant__ int factors[3];
extern __global__ void double_all(int *values, int count);
void set_factors(int a, int b, int c);

__global__ void evaluate(int *values, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] = polynomial(values[i]) - factors[2];
}

int main()
{
    const int count = 300;
    std::vector<int> values = random_numbers(75).ints(count, 100);
    on_device<int> there(values);
    set_factors(2, -3, 7);
    evaluate<<<3, 100>>>(there, count);
    LAUNCHED();
    double_all<<<3, 100>>>(there, count);
    LAUNCHED();
    for (int &value : values)
        value = 2 * (2 * value * value - 3 * value);
    same(there.read(), values, "values");
    int counted;
    MUST(cudaMemcpyFromSymbol(&counted, calls, sizeof counted));
    HOLDS(counted == count);
    return 0;
}
