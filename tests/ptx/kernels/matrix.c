#include "run.h"

enum { ROWS = 37, INNER = 21, COLUMNS = 29, TILE = 16 };

static kernel_shape tiles_over(uint32_t columns, uint32_t rows)
{
    return (kernel_shape){.grid = {(columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE, 1},
                          .block = {TILE, TILE, 1}};
}

/* Small whole numbers: every order of adding gives the same. */
#define CHECK_PRODUCT(name, number)                                                     \
    static void check_##name(void)                                                      \
    {                                                                                   \
        number *a = make_memory(ROWS * INNER * sizeof(number));                         \
        number *b = make_memory(INNER * COLUMNS * sizeof(number));                      \
        number *c = make_memory(ROWS * COLUMNS * sizeof(number));                       \
        int rows = ROWS, inner = INNER, columns = COLUMNS;                              \
        for (int i = 0; i < ROWS * INNER; i++)                                          \
            a[i] = (number)((int)below(21) - 10);                                       \
        for (int i = 0; i < INNER * COLUMNS; i++)                                       \
            b[i] = (number)((int)below(21) - 10);                                       \
        LAUNCH(#name, PRODUCT_SHAPE, VALUE(a), VALUE(b), VALUE(c), VALUE(rows),         \
               VALUE(inner), VALUE(columns));                                           \
        for (int i = 0; i < ROWS * COLUMNS; i++) {                                      \
            number sum = 0;                                                             \
            for (int k = 0; k < INNER; k++)                                             \
                sum += a[i / COLUMNS * INNER + k] * b[k * COLUMNS + i % COLUMNS];       \
            NEAR((size_t)i, (double)c[i], (double)sum, 0);                              \
        }                                                                               \
    }
#define PRODUCT_SHAPE tiles_over(COLUMNS, ROWS)
CHECK_PRODUCT(multiply_floats, float)
CHECK_PRODUCT(multiply_doubles, double)
CHECK_PRODUCT(multiply_ints, int)
#undef PRODUCT_SHAPE
#define PRODUCT_SHAPE ((kernel_shape){.grid = {5, 8, 1}, .block = {7, 5, 1}})
CHECK_PRODUCT(multiply_simply, int)

static void check_transpose(void)
{
    int rows = ROWS, columns = COLUMNS;
    float *in = make_floats(ROWS * COLUMNS), *out = make_memory(ROWS * COLUMNS * sizeof *out);

    LAUNCH("transpose", tiles_over(COLUMNS, ROWS), VALUE(in), VALUE(out), VALUE(rows),
           VALUE(columns));
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        NEAR(i, out[i % COLUMNS * ROWS + i / COLUMNS], in[i], 0);
}

static void check_multiply_vector(void)
{
    int32_t *a = make_ints(ROWS * COLUMNS), *x = make_ints(COLUMNS), *y = make_memory(ROWS * 4);
    int rows = ROWS, columns = COLUMNS;

    LAUNCH("multiply_vector", line_over(ROWS * 32, 160), VALUE(a), VALUE(x), VALUE(y), VALUE(rows),
           VALUE(columns));
    for (size_t i = 0; i < ROWS; i++) {
        int32_t sum = 0;

        for (size_t k = 0; k < COLUMNS; k++)
            sum += a[i * COLUMNS + k] * x[k];
        SAME(i, y[i], sum);
    }
}

static void check_invert_modulo(void)
{
    enum { N = 9 };
    uint32_t *all = make_memory(N * 2 * N * 4), prime = 1000003, old[N][N];
    int n = N;

    for (uint32_t i = 0; i < N; i++)
        for (uint32_t k = 0; k < N; k++) {
            old[i][k] = i == k ? 500000 + below(1000) : below(1000);
            all[i * 2 * N + k] = old[i][k];
            all[i * 2 * N + N + k] = i == k;
        }
    LAUNCH("invert_modulo", line_over(2 * N, 2 * N), VALUE(all), VALUE(n), VALUE(prime));
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t k = 0; k < N; k++) {
            uint64_t sum = 0;

            for (uint32_t j = 0; j < N; j++)
                sum += (uint64_t)old[i][j] * all[j * 2 * N + N + k] % prime;
            SAME(i * N + k, sum % prime, i == k);
        }
}

static const kernel_case cases[] = {
    {"multiply_floats", check_multiply_floats},
    {"multiply_doubles", check_multiply_doubles},
    {"multiply_ints", check_multiply_ints},
    {"multiply_simply", check_multiply_simply},
    {"transpose", check_transpose},
    {"multiply_vector", check_multiply_vector},
    {"invert_modulo", check_invert_modulo},
};
KERNEL_GROUP(matrix, cases);
