#include "run.h"

#include <math.h>

enum { COUNT = 1003 };

static void check_saxpy(void)
{
    float *x = make_floats(COUNT), *y = make_floats(COUNT), a = 1.7f;
    float *old = copy_memory(y, COUNT * sizeof *y);
    int n = COUNT;

    LAUNCH("saxpy", line_over(COUNT, 96), VALUE(a), VALUE(x), VALUE(y), VALUE(n));
    for (int i = 0; i < n; i++)
        NEAR((size_t)i, y[i], (double)a * x[i] + old[i], 1e-6);
}

static void check_daxpy(void)
{
    float *from = make_floats(COUNT);
    double *x = make_memory(COUNT * sizeof *x), *y = make_memory(COUNT * sizeof *y), a = 0.1;
    int n = COUNT;

    for (int i = 0; i < n; i++)
        x[i] = from[i], y[i] = i / 3.0;
    LAUNCH("daxpy", line_over(200, 37), VALUE(a), VALUE(x), VALUE(y), VALUE(n));
    for (int i = 0; i < n; i++)
        NEAR((size_t)i, y[i], fma(a, x[i], i / 3.0), 0);
}

static void check_add_four(void)
{
    float *x = make_floats(4 * 77), *y = make_floats(4 * 77), *sum = make_memory(4 * 77 * 4);
    int n = 77;

    LAUNCH("add_four", line_over(77, 32), VALUE(x), VALUE(y), VALUE(sum), VALUE(n));
    for (size_t i = 0; i < 4 * 77; i++)
        NEAR(i, sum[i], x[i] + y[i], 0);
}

static void check_multiply_complex(void)
{
    float *x = make_floats(2 * COUNT), *y = make_floats(2 * COUNT);
    float *product = make_memory(2 * COUNT * sizeof *product);
    int n = COUNT;

    LAUNCH("multiply_complex", line_over(COUNT, 100), VALUE(x), VALUE(y), VALUE(product),
           VALUE(n));
    for (size_t i = 0; i < 2 * COUNT; i += 2) {
        NEAR(i, product[i], x[i] * y[i] - x[i + 1] * y[i + 1], 0);
        NEAR(i + 1, product[i + 1], x[i] * y[i + 1] + x[i + 1] * y[i], 0);
    }
}

static void check_gather_scatter(void)
{
    int32_t *from = make_memory(COUNT * 4), *to = make_memory(COUNT * 4);
    int32_t *values = make_ints(COUNT), *out = make_memory(COUNT * 4);
    int n = COUNT;

    for (int i = 0; i < n; i++) {
        from[i] = (int32_t)below(COUNT);
        to[i] = i * 10 % n;
    }
    LAUNCH("gather_scatter", line_over(COUNT, 75), VALUE(from), VALUE(to), VALUE(values),
           VALUE(out), VALUE(n));
    for (int i = 0; i < n; i++)
        SAME((size_t)i, out[to[i]], values[from[i]] - values[i]);
}

static void check_reverse_block(void)
{
    enum { THREADS = 83, BLOCKS = 5 };
    int32_t *values = make_ints(THREADS * BLOCKS), *old = copy_memory(values, THREADS * BLOCKS * 4);

    LAUNCH("reverse_block", line_over(THREADS * BLOCKS, THREADS), VALUE(values));
    for (size_t i = 0; i < THREADS * BLOCKS; i++)
        SAME(i, values[i], old[i / THREADS * THREADS + THREADS - 1 - i % THREADS]);
}

static void check_number_threads(void)
{
    struct { uint32_t x, y, z; } size = {21, 10, 7};
    uint32_t *out = make_memory(21 * 10 * 7 * 4);
    kernel_shape shape = {.grid = {5, 4, 2}, .block = {5, 3, 4}};

    LAUNCH("number_threads", shape, VALUE(out), VALUE(size));
    for (uint32_t i = 0; i < 21 * 10 * 7; i++)
        SAME(i, out[i], i % 21 | i / 21 % 10 << 10 | i / 210 << 20);
}

static void check_dot(void)
{
    int32_t *x = make_ints(COUNT), *y = make_ints(COUNT), n = COUNT;
    int64_t *sum = make_memory(sizeof *sum), expected = 0;

    LAUNCH("dot", line_over(500, 90), VALUE(x), VALUE(y), VALUE(sum), VALUE(n));
    for (int i = 0; i < n; i++)
        expected += (int64_t)x[i] * y[i];
    SAME(0, *sum, expected);
}

static void check_strided(void)
{
    int16_t *in = make_memory(COUNT * sizeof *in);
    int32_t *out = make_memory(COUNT * sizeof *out), n = COUNT, stride = 17;

    for (int i = 0; i < n; i++)
        in[i] = (int16_t)below(65536);
    LAUNCH("strided", line_over(COUNT, 45), VALUE(in), VALUE(out), VALUE(n), VALUE(stride));
    for (int i = 0; i < n; i++)
        SAME((size_t)i, out[i], in[i * stride % n] - in[(i + stride) % n]);
}

static const kernel_case cases[] = {
    {"saxpy", check_saxpy},
    {"daxpy", check_daxpy},
    {"add_four", check_add_four},
    {"multiply_complex", check_multiply_complex},
    {"gather_scatter", check_gather_scatter},
    {"reverse_block", check_reverse_block},
    {"number_threads", check_number_threads},
    {"dot", check_dot},
    {"strided", check_strided},
};
KERNEL_GROUP(linear, cases);
