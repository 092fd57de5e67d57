/* What the programs have in common: checked calls, arrays of the device, random numbers and
 * comparisons. */
#pragma once
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define MUST(call) must((call), #call, __LINE__)
#define HOLDS(condition) must_hold((condition), #condition, __LINE__)
#define LAUNCHED() MUST(cudaGetLastError())

inline void must(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorString(error));
    exit(1);
}

inline void must_hold(bool holds, const char *condition, int line)
{
    if (holds)
        return;
    fprintf(stderr, "line %d: not so: %s\n", line, condition);
    exit(1);
}

/* An array in the memory of the current device. */
template <typename T> class on_device
{
    T *first;
    size_t count;

  public:
    explicit on_device(size_t count) : count(count)
    {
        MUST(cudaMalloc(&first, count * sizeof(T)));
        MUST(cudaMemset(first, 0, count * sizeof(T)));
    }
    explicit on_device(const std::vector<T> &values) : on_device(values.size())
    {
        write(values);
    }
    on_device(const on_device &) = delete;
    ~on_device()
    {
        MUST(cudaFree(first));
    }
    operator T *() const
    {
        return first;
    }
    void write(const std::vector<T> &values)
    {
        MUST(cudaMemcpy(first, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    std::vector<T> read() const
    {
        std::vector<T> values(count);
        MUST(cudaMemcpy(values.data(), first, count * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }
};

/* Random numbers, the same in each run and on each machine. */
class random_numbers
{
    uint64_t state;

  public:
    explicit random_numbers(uint64_t seed) : state(seed * 2 + 1)
    {
    }
    uint32_t next()
    {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)(state >> 33) ^ (uint32_t)(state >> 41);
    }
    uint32_t below(uint32_t bound)
    {
        return next() % bound;
    }
    /* From 0 to less than 1. */
    float uniform()
    {
        return (float)(next() & 0xffffff) / 0x1000000;
    }
    std::vector<float> floats(size_t count)
    {
        std::vector<float> values(count);
        for (float &value : values)
            value = uniform();
        return values;
    }
    std::vector<int> ints(size_t count, uint32_t bound)
    {
        std::vector<int> values(count);
        for (int &value : values)
            value = (int)below(bound);
        return values;
    }
};

template <typename T>
void same(const std::vector<T> &found, const std::vector<T> &expected, const char *what)
{
    HOLDS(found.size() == expected.size());
    for (size_t i = 0; i < found.size(); i++)
        if (!(found[i] == expected[i])) {
            fprintf(stderr, "%s: [%zu] is %g, expected %g\n", what, i, (double)found[i],
                    (double)expected[i]);
            exit(1);
        }
    printf("%s: %zu are right\n", what, found.size());
}

/* The tolerance is relative for numbers above 1. */
template <typename T>
void near(const std::vector<T> &found, const std::vector<T> &expected, double tolerance,
          const char *what)
{
    HOLDS(found.size() == expected.size());
    for (size_t i = 0; i < found.size(); i++) {
        double off = fabs((double)found[i] - (double)expected[i]);
        if (!(off <= tolerance * fmax(1, fabs((double)expected[i])))) {
            fprintf(stderr, "%s: [%zu] is %.9g, expected %.9g\n", what, i, (double)found[i],
                    (double)expected[i]);
            exit(1);
        }
    }
    printf("%s: %zu are right\n", what, found.size());
}

inline unsigned blocks_for(size_t count, unsigned threads)
{
    return (unsigned)((count + threads - 1) / threads);
}
