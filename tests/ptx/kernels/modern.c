#include "run.h"

#include "../exact.h"

#include <string.h>

static void check_reduce_all(void)
{
    enum { WARPS = 5 };
    uint32_t *in = make_words(WARPS * 32), *out = make_memory(WARPS * 6 * 4);

    LAUNCH("reduce_all", line_over(WARPS * 32, 32), VALUE(in), VALUE(out));
    for (size_t i = 0; i < WARPS; i++) {
        uint32_t expected[6] = {0, UINT32_MAX, (uint32_t)INT32_MIN, UINT32_MAX, 0, 0};

        for (size_t k = 0; k < 32; k++) {
            uint32_t value = in[32 * i + k];

            expected[0] += value;
            expected[1] = value < expected[1] ? value : expected[1];
            if ((int32_t)value > (int32_t)expected[2])
                expected[2] = value;
            expected[3] &= value | 0xff0;
            expected[4] |= value & 0xff0;
            expected[5] ^= value;
        }
        for (size_t k = 0; k < 6; k++)
            SAME(6 * i + k, out[6 * i + k], expected[k]);
    }
}

static void check_copy_ahead(void)
{
    enum { BLOCKS = 3, TILES = 5 };
    int32_t *in = make_ints(BLOCKS * TILES * 256), *out = make_memory(BLOCKS * 64 * 4);
    int tiles = TILES;

    LAUNCH("copy_ahead", line_over(BLOCKS * 64, 64), VALUE(in), VALUE(out), VALUE(tiles));
    for (size_t i = 0; i < BLOCKS * 64; i++) {
        uint32_t sum = 0;

        for (size_t k = 0; k < TILES * 4; k++)
            sum = sum * 5 + (uint32_t)in[(i / 64 * TILES + k / 4) * 256 +
                                         (4 * (i % 64) + 4 + k % 4) % 256];
        SAME(i, (uint32_t)out[i], sum);
    }
}

static void check_hand_over(void)
{
    enum { HALF = 45, ROUNDS = 6 };
    int32_t *out = make_memory(HALF * 4), rounds = ROUNDS;

    LAUNCH("hand_over", line_over(2 * HALF, 2 * HALF), VALUE(out), VALUE(rounds));
    for (int i = 0; i < HALF; i++) {
        int sum = 0;

        for (int round = 0; round < ROUNDS; round++)
            sum = sum * 3 + round * 100 + (i + 1) % HALF;
        SAME((size_t)i, out[i], sum);
    }
}

static uint16_t *make_brains(size_t count)
{
    float *floats = make_floats(count);
    uint16_t *all = make_memory(count * 2);

    for (size_t i = 0; i < count; i++) {
        uint32_t bits;

        memcpy(&bits, &floats[i], sizeof bits);
        all[i] = (uint16_t)(bits >> 16);
    }
    return all;
}

static void check_multiply_brains(void)
{
    enum { N = 77 };
    uint16_t *a = make_brains(2 * N), *b = make_brains(2 * N), *c = make_brains(2 * N);
    uint16_t *out = make_memory(2 * N * 2);
    int n = N;

    LAUNCH("multiply_brains", line_over(N, 40), VALUE(a), VALUE(b), VALUE(c), VALUE(out),
           VALUE(n));
    for (size_t i = 0; i < 2 * N; i++)
        SAME(i, out[i], exact_max(&BF16, false, exact_fma(&BF16, RN, a[i], b[i], c[i]), c[i]));
}

static void check_add_small(void)
{
    enum { N = 101 };
    uint16_t *half = make_memory(2), *pair = make_memory(4);
    int n = N, sum = 0;

    LAUNCH("add_small", line_over(N, 60), VALUE(half), VALUE(pair), VALUE(n));
    for (int i = 0; i < n; i++)
        sum += i % 5;
    NEAR(0, exact_value(&F16, half[0]), sum, 0);
    NEAR(1, exact_value(&F16, pair[0]), sum, 0);
    NEAR(2, exact_value(&F16, pair[1]), sum, 0);
}

static void check_meet(void)
{
    enum { N = 4 * 37, ROUNDS = 5 };
    int32_t *values = make_memory(2 * N * 4), rounds = ROUNDS;
    uint32_t *arrived = make_memory(4);
    kernel_shape shape = line_over(N, 37);

    for (int i = 0; i < N; i++)
        values[i] = i * i;
    shape.cooperative = true;
    LAUNCH("meet", shape, VALUE(values), VALUE(arrived), VALUE(rounds));
    for (int i = 0; i < N; i++) {
        int from = (i + ROUNDS) % N;

        SAME((size_t)i, values[N + i], from * from + ROUNDS);
    }
}

static void check_elect_one(void)
{
    uint32_t *out = make_memory(8);

    LAUNCH("elect_one", line_over(7 * 32, 7 * 32), VALUE(out));
    SAME(0, out[0], 7);
    SAME(1, out[1], 0);
}

static const kernel_case cases[] = {
    {"reduce_all", check_reduce_all},           {"copy_ahead", check_copy_ahead},
    {"hand_over", check_hand_over},             {"multiply_brains", check_multiply_brains},
    {"add_small", check_add_small},             {"meet", check_meet},
    {"elect_one", check_elect_one},
};
KERNEL_GROUP(modern, cases);
