/* Atomic sums of pairs of halves and bfloat16, of vectors of floats, and exchanges of 128 bits. */
// nvcc: -arch=compute_90
#include "program.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct __align__(16) wide
{
    unsigned long long low, high;
};

__global__ void add(__half2 *halves, __nv_bfloat162 *bfloats, float4 *vector)
{
    int i = threadIdx.x % 4;
    atomicAdd(halves + i, __floats2half2_rn(1, (float)i));
    atomicAdd(bfloats + i, __floats2bfloat162_rn(1, -1));
    atomicAdd(vector, make_float4(1, 2, (float)threadIdx.x, 0.5f));
}

/* Both halves of the word change together, or not at all. */
__global__ void count(wide *cell)
{
    wide seen = *cell, next, before;
    do {
        before = seen;
        next = {before.low + 1, before.high + 3};
        seen = atomicCAS(cell, before, next);
    } while (seen.low != before.low || seen.high != before.high);
}

int main()
{
    on_device<__half2> halves(4);
    on_device<__nv_bfloat162> bfloats(4);
    on_device<float4> vector(1);
    add<<<1, 128>>>(halves, bfloats, vector);
    LAUNCHED();
    std::vector<float> found, expected;
    for (__half2 pair : halves.read()) {
        found.push_back(__low2float(pair));
        found.push_back(__high2float(pair));
    }
    for (__nv_bfloat162 pair : bfloats.read())
        found.push_back(__low2float(pair) + __high2float(pair) * 100);
    for (int i = 0; i < 4; i++) {
        expected.push_back(32);
        expected.push_back(32.f * i);
    }
    expected.insert(expected.end(), 4, 32 - 3200);
    float4 sums = vector.read()[0];
    found.insert(found.end(), {sums.x, sums.y, sums.z, sums.w});
    expected.insert(expected.end(), {128, 256, 127 * 64, 64});
    same(found, expected, "sums");
    on_device<wide> cell(std::vector<wide>{{~0ull, 5}});
    count<<<4, 50>>>(cell);
    LAUNCHED();
    wide counted = cell.read()[0];
    HOLDS(counted.low == 199 && counted.high == 605);
    return 0;
}
