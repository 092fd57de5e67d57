/* Lambdas as kernels' arguments: for_each, a fold and a pipeline of functions by templates. */
// nvcc: --extended-lambda
#include "program.cuh"

template <typename FUNCTION> __global__ void run(int count, FUNCTION function)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        function(i);
}

template <typename FUNCTION> static void for_each(int count, FUNCTION function)
{
    run<<<4, 64>>>(count, function);
    LAUNCHED();
}

template <typename FIRST, typename SECOND> struct chained {
    FIRST first;
    SECOND second;
    __host__ __device__ double operator()(double value) const
    {
        return second(first(value));
    }
};

template <typename FIRST> static FIRST chain(FIRST first)
{
    return first;
}

template <typename FIRST, typename SECOND, typename... REST>
static auto chain(FIRST first, SECOND second, REST... rest)
{
    return chain(chained<FIRST, SECOND>{first, second}, rest...);
}

template <typename... NUMBERS> __host__ __device__ int sum_of(NUMBERS... numbers)
{
    return (numbers + ... + 0);
}

int main()
{
    const int count = 900;
    std::vector<double> values(count), expected(count);
    random_numbers random(72);
    for (double &value : values)
        value = random.uniform();
    on_device<double> there(values), results(count);
    on_device<int> sums(count);
    double *from = there, *to = results, factor = 3;
    int *sum = sums;
    auto steps = chain([factor] __host__ __device__(double x) { return x * factor; },
                       [] __host__ __device__(double x) { return x + 1; },
                       [] __host__ __device__(double x) { return x * x; });
    for_each(count, [=] __device__(int i) { to[i] = steps(from[i]); });
    for_each(count, [=] __device__(int i) { sum[i] = sum_of(i, 2 * i, 3) - sum_of(); });
    std::vector<int> numbers(count);
    for (int i = 0; i < count; i++) {
        expected[i] = steps(values[i]);
        numbers[i] = 3 * i + 3;
    }
    near(results.read(), expected, 1e-14, "chained");
    same(sums.read(), numbers, "sums");
    return 0;
}
