/* The functions of the mathematics library, of floats and doubles, as near as the CPU's doubles. */
#include "program.cuh"

#define FUNCTIONS(each)                                                                  \
    each(sin) each(cos) each(tan) each(exp) each(exp2) each(expm1) each(cbrt) each(sinh) \
        each(cosh) each(tanh) each(atan) each(asinh) each(erf) each(erfc) each(tgamma)   \
            each(lgamma) each(rint) each(floor) each(trunc) each(logb) each(fabs)

enum { COUNT = 512 };

#define ONE_MORE(name) +1
enum { KINDS = 0 FUNCTIONS(ONE_MORE) };

template <typename T> __host__ __device__ void all_of(T x, T *results)
{
    int kind = 0;
#define CALL(name) results[kind++] = name(x);
    FUNCTIONS(CALL)
}

template <typename T> __global__ void compute(const T *values, T *results)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    all_of(values[i], results + i * KINDS);
}

template <typename T> __global__ void pairs(const T *values, T *results)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, power;
    T x = values[i], y = values[COUNT - 1 - i];
    T *result = results + i * 6;
    result[0] = pow(fabs(x), y);
    result[1] = atan2(x, y);
    result[2] = fmod(x, y);
    result[3] = hypot(x, y);
    result[4] = frexp(x, &power) + power;
    result[5] = fma(x, y, ldexp(x, 3));
}

template <typename T> static void compare(double tolerance, const char *what)
{
    random_numbers random(80);
    std::vector<T> values(COUNT), expected(COUNT * KINDS), of_pairs;
    for (T &value : values)
        value = random.uniform() * 8 - 3.9f;
    for (int i = 0; i < COUNT; i++) {
        T x = values[i], y = values[COUNT - 1 - i];
        double wide[KINDS]; /* rounded once */
        int power;
        all_of<double>(x, wide);
        std::copy(wide, wide + KINDS, &expected[i * KINDS]);
        for (double result : {pow(fabs((double)x), (double)y), atan2((double)x, (double)y),
                              fmod((double)x, (double)y), hypot((double)x, (double)y),
                              frexp((double)x, &power) + 0, fma((double)x, (double)y, 8.0 * x)})
            of_pairs.push_back((T)result);
        of_pairs[i * 6 + 4] += power;
    }
    on_device<T> there(values), results(COUNT * KINDS), results_of_pairs(COUNT * 6);
    compute<T><<<COUNT / 64, 64>>>(there, results);
    LAUNCHED();
    pairs<T><<<COUNT / 64, 64>>>(there, results_of_pairs);
    LAUNCHED();
    near(results.read(), expected, tolerance, what);
    near(results_of_pairs.read(), of_pairs, tolerance, what);
}

int main()
{
    compare<double>(1e-13, "functions of doubles");
    compare<float>(5e-6, "functions of floats");
    return 0;
}
