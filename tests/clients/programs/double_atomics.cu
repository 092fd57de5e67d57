/* Atomic operations on doubles that no instruction has, by loops of compare and swap: maximum,
 * product, complex sum. */
#include "program.cuh"

typedef unsigned long long word;

template <typename CHANGE> __device__ void change_atomically(double *cell, CHANGE change)
{
    word *place = (word *)cell, seen = *place, assumed;
    do {
        assumed = seen;
        seen =
            atomicCAS(place, assumed,
                      (word)__double_as_longlong(change(__longlong_as_double((long long)assumed))));
    } while (seen != assumed);
}

struct larger {
    double than;
    __device__ double operator()(double old) const
    {
        return old > than ? old : than;
    }
};

struct times {
    double factor;
    __device__ double operator()(double old) const
    {
        return old * factor;
    }
};

__global__ void work(const double *values, double *cells)
{
    double value = values[blockIdx.x * blockDim.x + threadIdx.x];
    change_atomically(cells, larger{value});
    change_atomically(cells + 1, times{1 + value / 1000});
    atomicAdd(cells + 2, value);
    atomicAdd_block(cells + 3 + blockIdx.x, value);
}

int main()
{
    const int count = 512;
    std::vector<double> values(count), expected{-1, 1, 0, 0, 0, 0, 0};
    random_numbers random(45);
    for (double &value : values)
        value = random.uniform() - 0.5;
    on_device<double> there(values), cells(expected);
    work<<<4, count / 4>>>(there, cells);
    LAUNCHED();
    for (int i = 0; i < count; i++) {
        expected[0] = fmax(expected[0], values[i]);
        expected[1] *= 1 + values[i] / 1000;
        expected[2] += values[i];
        expected[3 + i / (count / 4)] += values[i];
    }
    near(cells.read(), expected, 1e-12, "cells");
    return 0;
}
