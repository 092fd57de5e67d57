/* Numbers of 16 bits, alone and in pairs: sums, products, fused ones and comparisons, as the CPU
 * rounds them. */
#include "program.cuh"

#include <cuda_fp16.h>

enum { COUNT = 2048 };

__global__ void work(const __half2 *a, const __half2 *b, __half2 *results)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    results[5 * i] = __hadd2(a[i], b[i]);
    results[5 * i + 1] = __hmul2(a[i], b[i]);
    results[5 * i + 2] = __hfma2(a[i], b[i], a[i]);
    results[5 * i + 3] =
        __halves2half2(__low2half(a[i]) - __high2half(b[i]), __hneg(__high2half(a[i])));
    results[5 * i + 4] = __hgt2(a[i], b[i]);
}

__global__ void sum(const __half2 *values, float *result)
{
    float2 pair = __half22float2(values[threadIdx.x]);
    atomicAdd(result, pair.x + pair.y);
}

static __half2 pair(double low, double high)
{
    return __halves2half2(__double2half(low), __double2half(high));
}

int main()
{
    random_numbers random(43);
    std::vector<__half2> a(COUNT), b(COUNT);
    std::vector<float> expected, found;
    for (int i = 0; i < COUNT; i++) {
        a[i] = pair(random.uniform() * 8 - 4, random.uniform());
        b[i] = pair(random.uniform() * 8 - 4, random.uniform() * 1e-3);
        double x = __low2float(a[i]), y = __high2float(a[i]), u = __low2float(b[i]),
               v = __high2float(b[i]);
        for (__half2 result : {pair(x + u, y + v), pair(x * u, y * v), pair(x * u + x, y * v + y),
                               pair(x - v, -y), pair(x > u, y > v)}) {
            expected.push_back(__low2float(result));
            expected.push_back(__high2float(result));
        }
    }
    on_device<__half2> first(a), second(b), results(5 * COUNT);
    work<<<COUNT / 128, 128>>>(first, second, results);
    LAUNCHED();
    for (__half2 result : results.read()) {
        found.push_back(__low2float(result));
        found.push_back(__high2float(result));
    }
    same(found, expected, "results");
    on_device<float> total(1);
    sum<<<1, 128>>>(first, total);
    LAUNCHED();
    float all = 0;
    for (int i = 0; i < 128; i++)
        all += __low2float(a[i]) + __high2float(a[i]);
    near(total.read(), {all}, 1e-5, "sum");
    return 0;
}
